import { language } from "./words.js";

/** `config.json` names the server, the store and the storefront key. */
export const config = await (await fetch("config.json")).json();

const { createClient } = await import(new URL("/client.js", config.api).href);

export const shop = createClient({
  url: config.api,
  namespace: config.namespace,
  app: config.key,
  lang: language,
  storage: localStorage,
  onSession: () => dispatchEvent(new Event("session")),
});

export const isSignedIn = async () => (await shop.auth.session()) !== null;

let known = {};

export async function readCategories() {
  if (known.language !== language()) {
    const categories = new Map();
    for await (const category of shop.categories.list({ limit: 100 })) categories.set(category.id, category);
    known = { language: language(), categories };
  }
  return known.categories;
}
