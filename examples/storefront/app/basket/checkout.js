import { address, go } from "../address.js";
import { focusOn, h, slot, take } from "../dom.js";
import { explain } from "../errors.js";
import { onSubmit } from "../form.js";
import { formatMinor } from "../money.js";
import { shop } from "../shop.js";
import { countryName, language, t } from "../words.js";
import { readBasket, renewBasket } from "./basket.js";
import { totals } from "./totals.js";

/** Where this shop would send its goods, as ISO 3166-1 codes; the browser knows their names. */
const countries = "AT BE BG CA CH CZ DE DK EE ES FI FR GB GR HR HU IE IT JP LI LT LU LV NL NO PL PT RO SE SI SK US";
const usualCountry = { en: "GB", de: "DE", fr: "FR" };

/** Address and order. The amounts are those of a dry run: what the store will charge, not what the page would guess. */
export async function show({ signal }) {
  const { lines } = readBasket();
  if (lines.length === 0) return go("#/basket", { replace: true });
  const dryRun = shop.orders.place({ items: toItems(lines) }, { query: { dry_run: true }, signal });
  const [me, preview] = await Promise.all([shop.users.me({}, { signal }), dryRun.catch((error) => ({ error }))]);
  if (preview.error && !preview.error.details) throw preview.error;
  const content = take("checkout", {
    remember: { checked: me.addresses.length === 0 },
    submit: { disabled: Boolean(preview.error) },
  });
  const [form, summary] = [slot(content, "form"), slot(content, "summary")];
  drawSummary(summary, lines, preview);
  fillAddress(form, me);
  onSubmit(form, (values) => placeOrder(values, me, summary));
  return content;
}

function fillAddress(form, { name, addresses }) {
  const [any = { name, country: usualCountry[language()] }] = addresses;
  const known = addresses.find(({ is_default }) => is_default) ?? any;
  const named = countries.split(" ").map((code) => [countryName(code), code]);
  named.sort(([a], [b]) => a.localeCompare(b, language()));
  form.elements.country.append(...named.map(([text, value]) => h("option", { value }, text)));
  for (const [field, value] of Object.entries(known))
    if (form.elements[field] && value) form.elements[field].value = value;
}

const toItems = (lines) =>
  lines.map(({ product_id, variant_id, quantity }) => ({
    ...(variant_id ? { variant_id } : { product_id }),
    quantity,
  }));

function drawSummary(summary, lines, preview) {
  const rows = lines.map(({ title, variant_title, quantity, price_minor, currency }) => {
    const name = [`${quantity} × ${title}`, variant_title].filter(Boolean).join(", ");
    return h("li", {}, h("span", {}, name), h("span", {}, formatMinor(price_minor * quantity, currency)));
  });
  const fault = () => h("p", { class: "fault", role: "alert" }, explainItems(preview.error, lines));
  summary.replaceChildren(take("summary", { lines: rows, sum: preview.error ? fault() : totals(preview) }));
}

/** The error of an order names the item by its place, as in `items.0.quantity`. */
function explainItems(error, lines) {
  const titles = error.details.map(({ field }) => lines[field.split(".")[1]]?.title).filter(Boolean);
  return titles.length > 0 ? t("checkout.short", { title: titles.join(", ") }) : explain(error);
}

async function placeOrder({ note, remember, ...shipping_address }, me, summary) {
  const { id, lines } = readBasket();
  try {
    const body = { items: toItems(lines), shipping_address, ...(note && { note }) };
    const order = await shop.orders.place(body, { idempotencyKey: id });
    renewBasket();
    if (remember) await rememberAddress(me, shipping_address);
    go(address("order", order.id, { placed: true }), { replace: true });
  } catch (error) {
    // The basket was ordered with another address or note: that order exists. A further try is a further order.
    if (error.code === 5307) renewBasket(lines);
    if (error.code !== 5304) throw error;
    drawSummary(summary, lines, { error });
    focusOn(summary.querySelector("h2"));
  }
}

/** An address that cannot be kept is no reason to doubt the order. */
async function rememberAddress({ addresses }, added) {
  const others = addresses.slice(-19).map((one) => ({ ...one, is_default: false }));
  await shop.users.updateMe({ addresses: [...others, { ...added, is_default: true }] }).catch(console.warn);
}
