import { address, go } from "../address.js";
import { slot, take } from "../dom.js";
import { act, coded, explain } from "../errors.js";
import { onSubmit } from "../form.js";
import { keepToken } from "../orders/access.js";
import { pay } from "../orders/pay.js";
import { isSignedIn, shop } from "../shop.js";
import { readStore } from "../store.js";
import { countryName, formatMoney, language, t } from "../words.js";
import { newId, readBasket, removeOrdered } from "./basket.js";
import { readPreview, toItems } from "./preview.js";
import { drawRates, drawSummary } from "./summary.js";

/** In this tab, the entered fields are kept over a reload and a change of the language. */
const draftName = "shop checkout";

/** Amounts and shipping rates come from a dry run. The order is placed only for the total that the page shows. */
export async function show({ signal }) {
  const { id, lines } = readBasket();
  if (lines.length === 0) return go("#/basket", { replace: true });
  const readMe = async () => ((await isSignedIn()) ? shop.users.me({}, { signal }) : null);
  const [me, store] = await Promise.all([readMe(), readStore()]);
  const { terms, privacy, withdrawal } = store.legal_urls;
  const content = take("checkout", {
    "sign-in": { href: address("sign-in", { next: "#/checkout" }) },
    known: !me && {},
    remember: me?.addresses.length === 0 && {},
    payment: methodsOf(store).length > 0 && {},
    terms: terms && { href: terms },
    withdrawal: withdrawal && { href: withdrawal },
    privacy: privacy && { href: privacy },
  });
  const form = slot(content, "form");
  const sale = { id, lines, store, content, signal, fields: form.elements, who: me?.id, code: undefined, turn: 0 };
  fillIn(sale, me);
  await refresh(sale);
  form.addEventListener("input", () => keepDraft(sale));
  form.addEventListener("change", ({ target }) => {
    keepDraft(sale);
    if (["country", "postal_code", "shipping_rate", "payment_method"].includes(target.name)) void refresh(sale);
  });
  addEventListener("online", () => sale.error && refresh(sale), { signal });
  startCode(sale);
  onSubmit(content, (values) => placeOrder(values, sale));
  return content;
}

function keepDraft(sale) {
  const { content, who, code } = sale;
  const values = Object.fromEntries(new FormData(slot(content, "form")));
  sessionStorage.setItem(draftName, JSON.stringify({ who, code, typed: typedCode(sale), values }));
}

/** Returns what this customer entered, never what another one did. The address of an account replaces a guest's. */
function readDraft({ who }, hasAddress) {
  const draft = JSON.parse(sessionStorage.getItem(draftName)) ?? {};
  if (draft.who !== who && draft.who !== undefined) return {};
  return draft.who === who || !hasAddress ? draft : { ...draft, values: {} };
}

function fillIn(sale, me) {
  const { fields, store, content } = sale;
  const { country } = fields;
  for (const option of country.options) option.textContent = countryName(option.value);
  country.append(...[...country.options].sort((a, b) => a.text.localeCompare(b.text, language())));
  const known = me?.addresses[0] ?? { name: me?.name, country: store.country ?? t("address.usual") };
  const { code, typed = "", values = {}, who } = readDraft(sale, Boolean(me?.addresses[0]));
  drawMethods(sale, values.payment_method);
  const { payment_method: _, ...others } = values;
  const entered = Object.entries(others).filter(([, value]) => value);
  for (const [field, value] of Object.entries({ email: me?.email, ...known, ...Object.fromEntries(entered) })) {
    if (fields[field] && value) fields[field].value = value;
  }
  if (who && fields.remember) fields.remember.checked = "remember" in values;
  slot(content, "code").value = typed;
  Object.assign(sale, { code, tried: code ?? "", rate: values.shipping_rate });
}

/** The place where tax and shipping are counted may be known before the rest of the address. */
function readChoices({ fields, code, rate }) {
  const { country, postal_code, line1, city, email } = fields;
  return {
    shipping_address: {
      ...{ line1: line1.value.trim() || "–", city: city.value.trim() || "–", country: country.value },
      ...(postal_code.value.trim() && { postal_code: postal_code.value.trim() }),
    },
    ...(email.value && email.validity.valid && { email: email.value.trim() }),
    ...(code && { discount_code: code }),
    ...payment(fields),
    rate: fields.shipping_rate?.value ?? rate,
  };
}

/** How long an order holds its goods depends on it, and so does whether it can be placed. */
const payment = ({ payment_method: chosen }) => chosen?.value && { payment_method: chosen.value };

const methodsOf = ({ payment_methods: methods, transfer_instructions: instructions }) =>
  ["stripe", "manual"].filter((one) => (one === "manual" ? instructions : methods.includes(one)));

function drawMethods({ content, store }, wanted) {
  const methods = methodsOf(store);
  if (methods.length === 0) return;
  const chosen = methods.includes(wanted) ? wanted : methods[0];
  const rows = methods.map((value) =>
    take("choice", {
      input: { type: "radio", name: "payment_method", value, checked: value === chosen },
      text: t(`payment.${value}`),
    }),
  );
  slot(content, "methods").replaceChildren(...rows);
}

function explainMethod({ content, fields, store }) {
  const { payment_method: method } = payment(fields) ?? {};
  const days = Math.max(1, Math.floor(store.transfer_hold / 86_400));
  if (method)
    slot(content, "method-hint").textContent =
      method === "manual" ? t("checkout.days", { count: days }) : t("checkout.card");
}

/** Shows the amounts for the present choices, or an error instead. Replies to earlier choices are dropped. */
async function refresh(sale) {
  const turn = ++sale.turn;
  slot(sale.content, "submit").disabled = true;
  explainMethod(sale);
  const preview = await readPreview(sale.lines, readChoices(sale), sale.signal);
  if (turn !== sale.turn || sale.signal.aborted) return;
  const { error, total } = preview;
  // After too many wrong codes, the API accepts only orders without a code.
  if (sale.code && (error?.code === 5309 || error?.message.includes("discount codes"))) {
    setCode(sale, undefined, error.code === 5309 ? explainCode(error) : explain(error));
    return refresh(sale);
  }
  Object.assign(sale, { error, total });
  const country = sale.fields.country.value;
  drawRates(sale.content, preview, country);
  drawSummary(sale.content, { ...sale, country, retry: () => refresh(sale) }, preview);
}

/** The discount code has its own form, so that the enter key does not place the order. */
function startCode(sale) {
  const form = slot(sale.content, "code-form");
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    void act(slot(sale.content, "use-code"), () => useCode(sale));
  });
}

const typedCode = ({ content }) => slot(content, "code").value.trim();

async function useCode(sale) {
  sale.tried = typedCode(sale);
  setCode(sale, sale.tried || undefined, "");
  await refresh(sale);
}

function setCode(sale, code, fault) {
  sale.code = code;
  keepDraft(sale);
  slot(sale.content, "code-fault").textContent = fault;
  slot(sale.content, "code").ariaInvalid = String(fault !== "");
}

/** If the goods are worth too little, names the minimum. */
function explainCode({ details = [] }) {
  const minimum = details.find(({ field }) => field === "discount_code")?.message;
  const [amount, currency] = minimum?.split(" ") ?? [];
  return amount ? t("code.minimum", { amount: formatMoney(amount, currency) }) : t("error.5309");
}

/** The order exists now, so its page shows the error if the payment cannot start. */
const leadToPayment = (id) =>
  pay(id).catch(({ code }) => {
    const arrival = code === 5306 ? "refused" : "failed";
    go(address("order", id, { [arrival]: true }), { replace: true });
  });

async function placeOrder({ note, remember, email, shipping_rate, payment_method, ...shipping_address }, sale) {
  if (readBasket().lines.length === 0) return go("#/basket", { replace: true });
  // A code that is typed but not applied yet changes the total. The buyer sees the new total and clicks again.
  if (typedCode(sale) !== sale.tried) {
    await useCode(sale);
    if (sale.error) return;
    if (sale.code === (sale.tried || undefined)) throw coded("total");
    return slot(sale.content, "code").focus();
  }
  const { id, lines, code, total } = sale;
  const body = {
    ...{ items: toItems(lines), email, shipping_address, expected_total: total },
    ...(shipping_rate && { shipping_rate }),
    ...(code && { discount_code: code }),
    ...(note && { note }),
    ...(payment_method && { payment_method }),
  };
  try {
    const placed = await shop.orders.place(body, { idempotencyKey: id });
    if (placed.access_token) keepToken(placed.id, placed.access_token);
    removeOrdered(lines);
    sessionStorage.removeItem(draftName);
    if (remember) await shop.users.updateMe({ addresses: [shipping_address] }).catch(console.warn);
    if (payment_method === "stripe" && placed.status === "pending") return leadToPayment(placed.id);
    go(address("order", placed.id, { placed: true }), { replace: true });
  } catch (error) {
    // An order with this id exists, with other fields. The next try places another order.
    if (error.code === 5307) sale.id = newId();
    const isTotal = error.details?.some(({ field }) => field === "expected_total");
    if (isTotal || [5304, 5308, 5309].includes(error.code)) await refresh(sale);
    // `refresh` has shown this error beside the goods.
    if (sale.error) return;
    throw isTotal ? coded("total") : error;
  }
}
