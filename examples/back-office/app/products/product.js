import { address, go } from "../address.js";
import { badge, h, page, toast } from "../dom.js";
import { actionButton } from "../errors.js";
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
      const changed = onlyChanged(fields, product);
      // Each sale increases the version, so a stock that was typed before a sale is refused.
      const options = "stock" in changed ? { ifVersion: product.version } : {};
      const saved = await shop.products.update(id, changed, options);
      return replace(content, draw(saved), t("product.saved"));
    }
    const made = await shop.products.create({ ...fields, status: "draft" });
    go(address("products", made.id), { replace: true });
    toast(t("product.created"), { next: true });
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

function onlyChanged(fields, product) {
  const now = { ...product, images: product.images.map(asWritten) };
  const isChanged = ([name, value]) => JSON.stringify(value) !== JSON.stringify(now[name] ?? null);
  return Object.fromEntries(Object.entries(fields).filter(isChanged));
}

/** Draws the status, and a button that changes it immediately. Input in the form is kept, but not saved. */
function drawStatus(product) {
  const isPublished = product.status === "published";
  const status = isPublished ? "draft" : "published";
  const change = async () => {
    const { version, stock } = await shop.products.update(product.id, { status });
    // If pieces were sold meanwhile, the old version is kept, so that a typed stock is refused.
    Object.assign(product, { status }, stock === product.stock && { version });
    replace(root, drawStatus(product), t(`product.now.${status}`));
  };
  const root = h(
    "p.buttons",
    badge(`product.${product.status}`, isPublished ? "is-done" : "is-waiting"),
    actionButton(isPublished ? "product.unpublish" : "product.publish", change, isPublished ? "is-quiet" : ""),
  );
  return root;
}
