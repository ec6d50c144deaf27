import { address, go } from "../address.js";
import { badge, focusOn, h, page, toast } from "../dom.js";
import { actionButton } from "../errors.js";
import { amount, area, choice, field, fold, form, whole } from "../form.js";
import { readProfile, shop } from "../store.js";
import { amountText, readAmount, t } from "../words.js";
import { asWritten, drawPictures } from "./pictures.js";
import { drawVariants } from "./variants.js";

const empty = { title: "", description: "", stock: null, sku: null, images: [], variants: [], tax_class: "standard" };

export async function show({ id, signal }) {
  if (id === "new") return draw({ ...empty, currency: (await readProfile()).currency });
  return draw(await shop.products.get(id, {}, { signal }));
}

function draw(product) {
  const { id, title, variants } = product;
  const pictures = drawPictures(product.images);
  const redraw = (next, word) => {
    const fresh = draw(next);
    content.replaceWith(fresh);
    focusOn(fresh.querySelector("h1"));
    toast(t(word));
  };
  const save = async (values) => {
    const fields = { ...readFields(values, variants.length > 0), images: pictures.read() };
    if (id) {
      const changed = onlyChanged(fields, product);
      // Each sale raises the version, and must not be undone by a stock that was typed before it.
      const options = "stock" in changed ? { ifVersion: product.version } : {};
      return redraw(await shop.products.update(id, changed, options), "product.saved");
    }
    const made = await shop.products.create({ ...fields, status: "draft" });
    go(address("products", made.id), { replace: true });
    toast(t("product.created"));
  };
  const content = page(
    id ? title : t("products.new"),
    id && drawStatus(product, redraw),
    form(
      "product.save",
      save,
      field("title", "product.name", { value: title, required: true, maxlength: 300 }),
      field("price", "product.price", {
        ...amount,
        value: amountText(product.price),
        required: true,
        hint: product.currency,
      }),
      variants.length === 0 &&
        field("stock", "product.stock", { ...whole, value: product.stock, hint: t("product.stockHint") }),
      h("fieldset", {}, h("legend", {}, t("product.pictures")), pictures.root),
      area("description", "product.description", product.description, { maxlength: 50_000, rows: 5 }),
      fold(
        "product.more",
        h(
          "div",
          { class: "form" },
          field("compare_at_price", "product.former", {
            ...amount,
            value: amountText(product.compare_at_price),
            hint: t("product.formerHint"),
          }),
          variants.length === 0 && field("sku", "product.sku", { value: product.sku, maxlength: 100 }),
          field("tax_class", "product.taxClass", {
            value: product.tax_class,
            pattern: "[a-z0-9][a-z0-9_\\-]*",
            required: true,
          }),
          field("weight_g", "product.weight", { ...whole, value: product.weight_g }),
          choice(
            "requires_shipping",
            "product.shipping",
            [
              ["yes", t("yes")],
              ["no", t("no")],
            ],
            product.requires_shipping === false ? "no" : "yes",
          ),
        ),
      ),
    ),
    variants.length > 0 && drawVariants(product),
  );
  return content;
}

function readFields(values, hasVariants) {
  const own = { sku: values.sku || null, stock: values.stock ? Number(values.stock) : null };
  return {
    title: values.title,
    price: readAmount(values.price),
    description: values.description || null,
    compare_at_price: readAmount(values.compare_at_price) ?? null,
    tax_class: values.tax_class,
    weight_g: values.weight_g ? Number(values.weight_g) : null,
    requires_shipping: values.requires_shipping === "yes",
    ...(!hasVariants && own),
  };
}

function onlyChanged(fields, product) {
  const now = { ...product, images: product.images.map(asWritten) };
  const isChanged = ([name, value]) => JSON.stringify(value) !== JSON.stringify(now[name] ?? null);
  return Object.fromEntries(Object.entries(fields).filter(isChanged));
}

function drawStatus({ id, status }, redraw) {
  const next = status === "published" ? "draft" : "published";
  const word = status === "published" ? "product.unpublish" : "product.publish";
  return h(
    "p",
    { class: "buttons" },
    badge(`product.${status}`, status === "published" ? "is-done" : "is-waiting"),
    actionButton(
      word,
      async () => {
        redraw(await shop.products.update(id, { status: next }), `product.now.${next}`);
      },
      status === "published" ? "is-quiet" : "",
    ),
  );
}
