import { section, toast } from "../dom.js";
import { amount, field, fold, form, whole } from "../form.js";
import { shop } from "../store.js";
import { amountText, readAmount, t } from "../words.js";

/** Price and stock of each form in which the product is sold. An empty price is the product's. */
export function drawVariants({ id, variants }) {
  return section(
    t("variants.title"),
    variants.map((variant) => drawVariant(id, variant)),
  );
}

function drawVariant(product, variant) {
  const root = fold(
    "variants.title",
    form(
      "product.save",
      async ({ price, stock, sku }) => {
        const body = { price: readAmount(price) ?? null, stock: stock ? Number(stock) : null, sku: sku || null };
        const call = { path: { id: product, variant_id: variant.id }, body, ifVersion: variant.version };
        const { data } = await shop.call("PATCH /products/{id}/variants/{variant_id}/", call);
        root.replaceWith(drawVariant(product, data));
        toast(t("product.saved"));
      },
      field("price", "product.price", {
        ...amount,
        value: variant.has_own_price ? amountText(variant.price) : "",
        hint: t("variants.priceHint"),
      }),
      field("stock", "product.stock", { ...whole, value: variant.stock, hint: t("product.stockHint") }),
      field("sku", "product.sku", { value: variant.sku, maxlength: 100 }),
    ),
  );
  root.querySelector("summary").textContent = `${variant.title}: ${variant.stock ?? "∞"}`;
  return root;
}
