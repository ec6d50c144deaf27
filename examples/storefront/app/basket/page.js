import { address } from "../address.js";
import { picture } from "../catalogue/picture.js";
import { isAvailable } from "../catalogue/price.js";
import { h, slot, take, toast } from "../dom.js";
import { shop } from "../shop.js";
import { priceNote, readStore, sentence } from "../store.js";
import { formatMinor, t, variantName } from "../words.js";
import { changeLines, readBasket, setQuantity } from "./basket.js";
import { quantityField } from "./quantity.js";

const fields = "title,slug,price_minor,currency,images,available,allow_backorder,variants";

export async function show({ signal }) {
  const content = take("basket");
  const [store] = await Promise.all([readStore().catch(() => null), refreshLines(signal)]);
  draw(slot(content, "body"), store && sentence(priceNote(store)));
  return content;
}

async function refreshLines(signal) {
  const { lines } = readBasket();
  if (lines.length === 0) return;
  const ids = [...new Set(lines.map(({ product_id }) => product_id))].join();
  try {
    const { data } = await shop.products.list({ ids, fields, limit: 100 }, { signal }).page();
    changeLines((all) => all.map((line) => refreshLine(line, data)));
  } catch (error) {
    if (error.code !== "network") throw error;
  }
}

function refreshLine(line, products) {
  const product = products.find(({ id }) => id === line.product_id);
  const item = line.variant_id ? product?.variants.find(({ id }) => id === line.variant_id) : product;
  if (!item) return { ...line, note: "gone" };
  const { price_minor, available } = item;
  const { title, slug, currency, allow_backorder } = product;
  // The API never reports more than ten pieces, so ten can mean more.
  const isShort = available !== null && available < 10 && line.quantity > available && !allow_backorder;
  const isChanged = price_minor !== line.price_minor && "price";
  const note = isAvailable({ available, allow_backorder }) ? (isShort ? "short" : isChanged) : "none";
  return { ...line, title, slug, currency, price_minor, available, note };
}

function draw(body, note) {
  const { lines } = readBasket();
  if (lines.length === 0) return body.replaceChildren(take("nothing", { text: t("basket.empty") }));
  const sum = take("basket-sum", { note });
  const count = () => {
    const minor = readBasket().lines.reduce((all, { price_minor, quantity }) => all + price_minor * quantity, 0);
    slot(sum, "total").textContent = formatMinor(minor, lines[0].currency);
  };
  count();
  const rows = lines.map((line) => drawLine(line, count, () => draw(body, note)));
  body.replaceChildren(h("ul", { class: "lines" }, rows), sum);
}

function drawLine(line, count, drawAgain) {
  const { title, variant_id: variant, price_minor, currency } = line;
  const cost = (quantity) => formatMinor(price_minor * quantity, currency);
  const onchange = (quantity) => {
    setQuantity(line, quantity);
    slot(row, "cost").textContent = cost(quantity);
    count();
  };
  const remove = () => {
    setQuantity(line, 0);
    drawAgain();
    toast(t("basket.removed", { title }));
    document.querySelector("#main").focus();
  };
  const row = take("line", {
    picture: picture(line.image, "7rem"),
    title: h("a", { href: address("p", line.slug, { variant }) }, title),
    variant: variantName(line.variant_title),
    note: line.note && t(`basket.note.${line.note}`, { count: line.available }),
    row: [
      quantityField({ value: line.quantity, label: t("basket.quantityOf", { title }), onchange }).field,
      take("remove", { button: { "aria-label": t("basket.removeOf", { title }), onclick: remove } }),
    ],
    cost: cost(line.quantity),
  });
  return row;
}
