import { h, joined, section } from "../dom.js";
import { actionButton, coded } from "../errors.js";
import { fold, form, given, omit } from "../form.js";
import { line } from "../list.js";
import { replace } from "../replace.js";
import { shop } from "../store.js";
import { amountText, formatDate, formatMoney, t } from "../words.js";
import { sent, unsent } from "./names.js";
import { pieces, readPieces } from "./pieces.js";

/** Draws two steps: first the goods to refund, then the amount that the server has computed. Only the second refunds. */
export function drawRefund(order, changed) {
  const { id, version, items, currency } = order;
  const lines = items.filter(({ quantity, refunded_quantity: refunded }) => quantity > refunded);
  const shippingLeft = leftOfShipping(order);
  const preview = async (values) => {
    const body = readRefund(lines, values);
    const after = await shop.orders.refund(id, body, { query: { dry_run: true }, ifVersion: version });
    const back = formatMoney(after.returned - order.returned, currency);
    const refund = async () =>
      changed(await shop.orders.refund(id, body, { ifVersion: version }), "refund.done", { amount: back });
    const second = drawQuestion(order, back, refund);
    for (const step of [first, second]) step.dataset.changed = "";
    second.append(actionButton("refund.back", () => second.replaceWith(first)));
    replace(first, second);
  };
  const left = formatMoney(shippingLeft, currency);
  const first = form("refund", preview, { left }, { lines: lines.flatMap(drawLine) });
  if (lines.length === 0) omit(first, "restock");
  if (shippingLeft === 0) omit(first, "shipping");
  const all = actionButton("refund.all", () => {
    for (const line of lines) first.elements[line.id].value = limit(line);
    if (first.elements.shipping) first.elements.shipping.value = amountText(shippingLeft);
  });
  first.prepend(h("p", all));
  return fold(t("refund.open"), first);
}

function leftOfShipping({ prices_include_tax: isGross, shipping, shipping_tax: tax, refunds }) {
  const givenBack = refunds.reduce((sum, one) => sum + (one.state === "failed" ? 0 : one.shipping), 0);
  return Math.max(0, shipping + (isGross ? 0 : tax) - givenBack);
}

function drawQuestion({ returned, currency, payments }, amount, refund) {
  const second = form("refund-sure", refund);
  const before = returned > 0 ? "refund.before" : "refund.nothingBefore";
  const isCard = payments.some(({ provider }) => provider === "stripe");
  second.prepend(
    h("h3", { tabindex: -1 }, t("refund.sure", { amount })),
    h("p", t(before, { amount: formatMoney(returned, currency) })),
    h("p", t(isCard ? "refund.byCard" : "refund.byHand")),
  );
  return second;
}

/** Returns how many pieces can be refunded: those that were not sent, or if all were sent, those that were sent. */
function limit(line) {
  return unsent(line) > 0 ? unsent(line) : sent(line);
}

function drawLine(line) {
  const isMixed = unsent(line) > 0 && sent(line) > 0;
  const count = pieces(line, limit(line), 0);
  if (!isMixed) return [count];
  const input = count.querySelector("input");
  const box = h("input", { type: "checkbox", name: `returned ${line.id}` });
  box.addEventListener("change", () => {
    const left = box.checked ? sent(line) : unsent(line);
    input.max = left;
    count.querySelector(".of").textContent = `/ ${left}`;
  });
  return [count, h("label.choice", box, h("span", t("refund.returned")))];
}

function readRefund(lines, values) {
  const chosen = readPieces(lines, values).map((piece) => {
    const line = lines.find(({ id }) => id === piece.line_id);
    const isReturned = values[`returned ${line.id}`] || unsent(line) === 0;
    return { ...piece, ...(isReturned && { returned: true }) };
  });
  const { restock, reason } = values;
  const [shipping, amount] = [values.shipping || null, values.amount || null];
  if (chosen.length === 0 && !shipping && !amount) throw coded("noPieces");
  return { ...(chosen.length > 0 && { lines: chosen, restock }), ...given({ shipping, amount, reason }) };
}

export function drawRefunds({ id, version, refunds, currency }, changed) {
  if (refunds.length === 0) return null;
  const draw = ({ id: refund, created_at: at, amount, state, reason }) => {
    const retry = async () =>
      changed(await shop.orders.retryRefund(id, refund, undefined, { ifVersion: version }), "refund.retried");
    const again = state === "failed" && actionButton("refund.retry", retry);
    return line(formatDate(at), joined(t(`refund.${state}`), reason), formatMoney(amount, currency), again);
  };
  return section("refunds.title", h("ul.lines", refunds.map(draw)));
}
