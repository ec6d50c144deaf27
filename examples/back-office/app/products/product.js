import { address, go } from "../address.js";
import { badge, h, page, toast } from "../dom.js";
import { actionButton, coded } from "../errors.js";
import { form, omit } from "../form.js";
import { replace } from "../replace.js";
import { readProfile, shop } from "../store.js";
import { t } from "../words.js";
import { asWritten, drawPictures } from "./pictures.js";
import { drawVariants } from "./variants.js";

export async function show({ id, signal }) {
  if (id !== "new") return draw(await shop.products.get(id, {}, { signal }));
  return draw({ images: [], variants: [], currency: (await readProfile()).currency });
}

function draw(product) {
  const { id, title, variants } = product;
  const pictures = drawPictures(product.images);
  const save = async (values) => {
    const fields = { ...values, images: pictures.read() };
    if (id) {
      const names = Object.keys(fields).filter((name) => textOf(fields, name) !== textOf(product, name));
      const present = await shop.products.get(id);
      // A sale changes the version, too, so only these fields are compared.
      if (names.some((name) => textOf(present, name) !== textOf(product, name))) throw coded(5303);
      const changed = Object.fromEntries(names.map((name) => [name, fields[name]]));
      const saved = await shop.products.update(id, changed, { ifVersion: present.version });
      return replace(content, draw(saved), t("product.saved"));
    }
    const made = await shop.products.create({ ...fields, status: "draft" });
    go(address("products", made.id), { replace: true });
    toast(t("product.created"));
  };
  const root = form("product", save, product, { pictures: pictures.parts });
  if (variants.length > 0) omit(root, "stock", "sku");
  const content = page(
    id ? title : t("products.new"),
    id && drawStatus(product),
    root,
    variants.length > 0 && drawVariants(product),
  );
  return content;
}

/** Returns a field of a product as JSON, to compare it. */
function textOf(product, name) {
  return JSON.stringify(name === "images" ? product.images.map(asWritten) : (product[name] ?? null));
}

/** Draws the status, and a button that changes it immediately. Input in the form is kept, but not saved. */
function drawStatus(product) {
  const isPublished = product.status === "published";
  const status = isPublished ? "draft" : "published";
  const change = async () => {
    await shop.products.update(product.id, { status });
    product.status = status;
    replace(root, drawStatus(product), t(`product.now.${status}`));
  };
  const root = h(
    "p.buttons",
    badge(`product.${product.status}`, isPublished ? "is-done" : "is-waiting"),
    actionButton(isPublished ? "product.unpublish" : "product.publish", change, isPublished ? "is-quiet" : ""),
  );
  return root;
}
