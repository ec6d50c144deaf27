import { fact, facts, h, section } from "../dom.js";
import { formatDate, t } from "../words.js";
import { lineName, mailLink } from "./names.js";

export function drawWithdrawals({ withdrawals, items }) {
  const draw = (one) => {
    const nameOf = ({ line_id: id, quantity }) =>
      `${quantity} × ${lineName(items.find((item) => item.id === id) ?? {})}`;
    const goods = one.lines?.map(nameOf).join(", ") ?? t("withdrawals.whole");
    return h("li.boxed", drawFacts(one, fact("order.goods", goods)));
  };
  return withdrawals.length > 0 && section("withdrawals.title", h("ul.rows", withdrawals.map(draw)));
}

/** Draws a withdrawal that matches no order. Its number is the one that the consumer typed. */
export const drawUnmatched = (one) => h("li.boxed", drawFacts(one, fact("withdrawals.number", String(one.number))));

function drawFacts({ name, email, created_at: at, text }, more) {
  return facts(
    fact("withdrawals.at", formatDate(at)),
    more,
    fact("buyer.name", name),
    fact("buyer.email", mailLink(email)),
    fact("withdrawals.text", text),
  );
}
