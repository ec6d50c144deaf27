import { section } from "../dom.js";
import { fold, form } from "../form.js";
import { replace } from "../replace.js";
import { shop } from "../store.js";
import { t } from "../words.js";

/** A variant without a price has the price of the product. */
export function drawVariants({ id, variants }) {
  return section(
    "variants.title",
    variants.map((variant) => drawVariant(id, variant)),
  );
}

function drawVariant(product, { id, title, version, price, has_own_price: hasPrice, stock, sku }) {
  const save = async (values) => {
    const next = await shop.variants.update(product, id, values, { ifVersion: version });
    replace(root, drawVariant(product, next), t("product.saved"));
  };
  const fields = form("variant", save, { price: hasPrice ? price : null, stock, sku });
  const root = fold(`${title}: ${stock ?? "∞"}`, fields);
  return root;
}
