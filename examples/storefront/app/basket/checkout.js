import { address, go } from "../address.js";
import { focusOn, h, slot, take } from "../dom.js";
import { explain } from "../errors.js";
import { onSubmit } from "../form.js";
import { shop } from "../shop.js";
import { countryName, formatMinor, language, t } from "../words.js";
import { readBasket, renewBasket } from "./basket.js";
import { totals } from "./totals.js";

/** The amounts are those of a dry run: what the store will charge, not what the page would guess. */
export async function show({ signal }) {
  const { lines } = readBasket();
  if (lines.length === 0) return go("#/basket", { replace: true });
  const dryRun = shop.orders.place({ items: toItems(lines) }, { query: { dry_run: true }, signal });
  const [me, preview] = await Promise.all([shop.users.me({}, { signal }), dryRun.catch((error) => ({ error }))]);
  if (preview.error && !preview.error.details) throw preview.error;
  const content = take("checkout", {
    remember: me.addresses.length === 0 && {},
    submit: { disabled: Boolean(preview.error) },
  });
  const [form, summary] = [slot(content, "form"), slot(content, "summary")];
  drawSummary(summary, lines, preview);
  fillAddress(form, me);
  onSubmit(form, (values) => placeOrder(values, summary));
  return content;
}

/** The codes of the countries are in the page; the browser knows their names. */
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

function drawSummary(summary, lines, preview) {
  const rows = lines.map(({ title, variant_title, quantity, price_minor, currency }) => {
    const name = [`${quantity} × ${title}`, variant_title].filter(Boolean).join(", ");
    return take("summary-line", { name, cost: formatMinor(price_minor * quantity, currency) });
  });
  const fault = () => h("p", { class: "fault", role: "alert" }, explainItems(preview.error, lines));
  summary.replaceChildren(take("summary", { lines: rows, sum: preview.error ? fault() : totals(preview) }));
}

/** The error of an order names the item by its place, as in `items.0.quantity`. */
function explainItems(error, lines) {
  const titles = error.details.map(({ field }) => lines[field.split(".")[1]]?.title).filter(Boolean);
  return titles.length > 0 ? t("checkout.short", { title: titles.join(", ") }) : explain(error);
}

async function placeOrder({ note, remember, ...shipping_address }, summary) {
  const { id, lines } = readBasket();
  try {
    const body = { items: toItems(lines), shipping_address, ...(note && { note }) };
    const order = await shop.orders.place(body, { idempotencyKey: id });
    renewBasket();
    // An address that cannot be kept is no reason to doubt the order.
    if (remember) await shop.users.updateMe({ addresses: [shipping_address] }).catch(console.warn);
    go(address("order", order.id, { placed: true }), { replace: true });
  } catch (error) {
    // The basket was ordered with another address or note: that order exists. A further try is a further order.
    if (error.code === 5307) renewBasket(lines);
    if (error.code !== 5304) throw error;
    drawSummary(summary, lines, { error });
    focusOn(summary.querySelector("h2"));
  }
}
