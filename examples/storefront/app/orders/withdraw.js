import { address } from "../address.js";
import { quantityField } from "../basket/quantity.js";
import { take } from "../dom.js";
import { coded } from "../errors.js";
import { mailNote, nextStep, onSubmit } from "../form.js";
import { isSignedIn, shop } from "../shop.js";
import { formatDate, t, variantName } from "../words.js";
import { keepWithdrawn, readToken } from "./access.js";

/** The second of the two steps of a withdrawal: the goods and the confirmation. It needs no sign-in. */
export async function show({ query, signal }) {
  const order = await readOrder(query.get("order"), signal);
  const goods = order?.items.map(drawLine).filter(({ left }) => left > 0);
  const content = take("withdraw", {
    name: { value: order?.shipping_address?.name },
    number: { value: order?.number },
    email: { value: order?.email },
    lines: goods?.map(({ drawn }) => drawn),
    goods: order && {},
  });
  onSubmit(content, async ({ name, number, email, text, ...chosen }) => {
    const lines = (goods ?? [])
      .filter(({ id }) => id in chosen)
      .map(({ id, left, read }) => ({ line_id: id, quantity: Math.min(read(), left) }));
    if (order && lines.length === 0) throw coded("noGoods");
    const isWhole = !goods?.some(({ left }, index) => lines[index]?.quantity !== left);
    const body = { name, number: Number(number), email, ...(text && { text }), ...(!isWhole && { lines }) };
    await shop.orders.withdraw(body);
    if (order) keepWithdrawn(order.id, isWhole ? "whole" : "part");
    // So that the footer's link to the form works again.
    history.replaceState(history.state, "", address("withdraw", { sent: 1 }));
    const time = formatDate(Date.now(), { dateStyle: "long", timeStyle: "short" });
    nextStep(
      content,
      take("withdrawn", { lead: t("withdraw.received", { time, email }), mail: mailNote("mail.demo") }),
    );
  });
  return content;
}

/** Returns the order; null if this tab may not see it, and the buyer must type its number. */
async function readOrder(id, signal) {
  if (!id) return null;
  const orderToken = readToken(id);
  if (!orderToken && !(await isSignedIn())) return null;
  return shop.orders.get(id, {}, { signal, orderToken }).catch((error) => {
    if (error.code !== 5301) throw error;
    return null;
  });
}

function drawLine({ id, title, variant_title: variant, quantity, refunded_quantity: refunded }) {
  const left = quantity - refunded;
  const text = [title, variantName(variant)].filter(Boolean).join(", ");
  const pieces = quantityField({ value: left, label: t("basket.quantityOf", { title: text }) });
  const choice = take("choice", {
    input: { type: "checkbox", name: id, checked: true },
    text: left === 1 ? text : `${left} × ${text}`,
    count: null,
  });
  return { id, left, read: pieces.read, drawn: [choice, left > 1 && pieces.field] };
}
