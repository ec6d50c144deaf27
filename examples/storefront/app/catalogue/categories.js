import { shop } from "../shop.js";
import { language } from "../words.js";

let known = {};

export async function readCategories() {
  if (known.language !== language()) {
    const categories = new Map();
    for await (const category of shop.categories.list({ limit: 100 })) categories.set(category.id, category);
    known = { language: language(), categories };
  }
  return known.categories;
}
