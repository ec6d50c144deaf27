import { h, section } from "../dom.js";
import { actionButton, coded } from "../errors.js";
import { amount, area, check, field, fold, form } from "../form.js";
import { line } from "../list.js";
import { shop } from "../store.js";
import { amountText, formatDate, formatMoney, readAmount, t } from "../words.js";
import { sent, unsent } from "./names.js";
import { pieces, readPieces } from "./pieces.js";

/** Two steps: what to give back, then the amount as the server computes it. Nothing is refunded before the second. */
export function drawRefund(order, changed) {
  const { id, version, items, shipping, currency, returned } = order;
  const tax = order.prices_include_tax ? 0 : order.shipping_tax;
  const lines = items.filter(({ quantity, refunded_quantity: refunded }) => quantity > refunded);
  const givenBack = order.refunds.reduce((sum, one) => sum + (one.state === "failed" ? 0 : one.shipping), 0);
  const shippingLeft = Math.max(0, shipping + tax - givenBack);
  const first = form(
    "refund.preview",
    async (values) => {
      const body = readRefund(lines, values);
      const after = await shop.orders.refund(id, body, { query: { dry_run: true }, ifVersion: version });
      const back = formatMoney(after.returned - returned, currency);
      const second = form("refund.submit", async () => {
        changed(await shop.orders.refund(id, body, { ifVersion: version }), "refund.done", { amount: back });
      });
      second.prepend(
        h("h3", { tabindex: -1 }, t("refund.sure", { amount: back })),
        h(
          "p",
          {},
          t(returned > 0 ? "refund.before" : "refund.nothingBefore", { amount: formatMoney(returned, currency) }),
        ),
        h("p", {}, t(order.payments.some(({ provider }) => provider === "stripe") ? "refund.byCard" : "refund.byHand")),
      );
      second.append(actionButton("refund.back", () => second.replaceWith(first)));
      first.replaceWith(second);
      second.querySelector("h3").focus();
    },
    lines.map(drawLine),
    lines.length > 0 && check("restock", "refund.restock"),
    shippingLeft > 0 &&
      field("shipping", "refund.shipping", {
        ...amount,
        hint: t("refund.shippingHint", { amount: formatMoney(shippingLeft, currency) }),
      }),
    field("amount", "refund.amount", { ...amount, hint: t("refund.amountHint") }),
    area("reason", "refund.reason", "", { maxlength: 500, rows: 2 }),
  );
  const all = actionButton("refund.all", () => {
    for (const line of lines) first.elements[line.id].value = limit(line);
    if (first.elements.shipping) first.elements.shipping.value = amountText(shippingLeft);
  });
  first.prepend(h("p", {}, all));
  return fold("refund.open", first);
}

/** Pieces that came back are taken from those that were sent, others from those that were not. */
function limit(line) {
  return unsent(line) > 0 ? unsent(line) : sent(line);
}

function drawLine(line) {
  const isMixed = unsent(line) > 0 && sent(line) > 0;
  const count = pieces(line, limit(line), 0);
  if (!isMixed) return count;
  const input = count.querySelector("input");
  const cameBack = check(`returned ${line.id}`, "refund.returned");
  cameBack.addEventListener("change", ({ target }) => {
    const left = target.checked ? sent(line) : unsent(line);
    input.max = left;
    count.querySelector(".of").textContent = `/ ${left}`;
  });
  return [count, cameBack];
}

function readRefund(lines, values) {
  const chosen = readPieces(lines, values).map((piece) => {
    const line = lines.find(({ id }) => id === piece.line_id);
    const isReturned = `returned ${line.id}` in values || unsent(line) === 0;
    return { ...piece, ...(isReturned && { returned: true }) };
  });
  const [shipping, more] = [readAmount(values.shipping), readAmount(values.amount)];
  if (chosen.length === 0 && !shipping && !more) throw coded("noPieces");
  return {
    ...(chosen.length > 0 && { lines: chosen, restock: "restock" in values }),
    ...(shipping && { shipping }),
    ...(more && { amount: more }),
    ...(values.reason && { reason: values.reason }),
  };
}

export function drawRefunds({ id, version, refunds, currency }, changed) {
  if (refunds.length === 0) return null;
  const draw = ({ id: refund, created_at: at, amount: back, state, reason }) => {
    const retry = async () =>
      changed(await shop.orders.retryRefund(id, refund, undefined, { ifVersion: version }), "refund.retried");
    const below = [t(`refund.${state}`), reason].filter(Boolean).join(" · ");
    return line(
      formatDate(at),
      below,
      formatMoney(back, currency),
      state === "failed" && actionButton("refund.retry", retry),
    );
  };
  return section(t("refunds.title"), h("ul", { class: "lines" }, refunds.map(draw)));
}
