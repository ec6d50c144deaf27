import { address, go } from "../address.js";
import { focusOn, h, slot, take } from "../dom.js";
import { coded, explain } from "../errors.js";
import { onSubmit } from "../form.js";
import { shop } from "../shop.js";
import { countryName, formatMinor, language, t, variantName } from "../words.js";
import { newId, readBasket, removeOrdered } from "./basket.js";
import { totals } from "./totals.js";

/** The amounts are those of a dry run. */
export async function show({ signal }) {
  const order = readBasket();
  const { lines } = order;
  if (lines.length === 0) return go("#/basket", { replace: true });
  const [me, preview] = await Promise.all([shop.users.me({}, { signal }), readPreview(lines, signal)]);
  const content = take("checkout", {
    remember: me.addresses.length === 0 && {},
    submit: { disabled: Boolean(preview.error) },
  });
  const summary = slot(content, "summary");
  drawSummary(summary, lines, preview);
  fillAddress(slot(content, "form"), me);
  order.total = preview.total_minor;
  onSubmit(content, (values) => placeOrder(values, summary, order));
  return content;
}

const readPreview = (lines, signal) =>
  shop.orders.place({ items: toItems(lines) }, { query: { dry_run: true }, signal }).catch((error) => {
    if (!error.details) throw error;
    return { error };
  });

function fillAddress({ elements }, { name, addresses }) {
  const { country } = elements;
  for (const option of country.options) option.textContent = countryName(option.value);
  country.append(...[...country.options].sort((a, b) => a.text.localeCompare(b.text, language())));
  const known = addresses[0] ?? { name, country: t("address.usual") };
  for (const [field, value] of Object.entries(known)) if (elements[field] && value) elements[field].value = value;
}

const toItems = (lines) =>
  lines.map(({ product_id, variant_id, quantity }) =>
    variant_id ? { variant_id, quantity } : { product_id, quantity },
  );

function drawSummary(summary, lines, { error, items = lines, ...preview }) {
  const rows = items.map(({ title, variant_title, quantity, price_minor, total_minor = price_minor * quantity }) => {
    const name = [`${quantity} × ${title}`, variantName(variant_title)].filter(Boolean).join(", ");
    return take("summary-line", { name, cost: formatMinor(total_minor, lines[0].currency) });
  });
  const sum = error ? h("p", { class: "fault", role: "alert" }, explainItems(error, lines)) : totals(preview);
  summary.replaceChildren(take("summary", { lines: rows, sum }));
}

/** The field is as in `items.0.quantity`. */
function explainItems(error, lines) {
  const titles = error.details.map(({ field }) => lines[field.split(".")[1]]?.title).filter(Boolean);
  return titles.length > 0 ? t("checkout.short", { title: titles.join(", ") }) : explain(error);
}

/** Orders what the page shows; another total is shown first. */
async function placeOrder({ note, remember, ...shipping_address }, summary, order) {
  const { id, lines, total } = order;
  if (readBasket().lines.length === 0) return go("#/basket", { replace: true });
  const preview = await readPreview(lines);
  // Missing goods are refused below, unless this very order has them.
  if (!preview.error && preview.total_minor !== total) {
    order.total = preview.total_minor;
    drawSummary(summary, lines, preview);
    throw coded("total");
  }
  try {
    const body = { items: toItems(lines), shipping_address, ...(note && { note }) };
    const placed = await shop.orders.place(body, { idempotencyKey: id });
    removeOrdered(lines);
    if (remember) await shop.users.updateMe({ addresses: [shipping_address] }).catch(console.warn);
    go(address("order", placed.id, { placed: true }), { replace: true });
  } catch (error) {
    // The basket was ordered with another address or note. A further try is a further order.
    if (error.code === 5307) order.id = newId();
    if (error.code !== 5304) throw error;
    drawSummary(summary, lines, { error });
    focusOn(summary.querySelector("h2"));
  }
}
