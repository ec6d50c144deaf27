import { amount, field, fold, form } from "../form.js";
import { shop } from "../store.js";
import { amountText, formatMoney, readAmount } from "../words.js";

/** Books money that has arrived, by default what is due. */
export function drawPay({ id, version, due, total, currency }, changed) {
  return fold(
    "pay.open",
    form(
      "pay.submit",
      async ({ amount: typed, reference, received_at: on }) => {
        const paid = readAmount(typed);
        const body = { amount: paid, ...(reference && { reference }), ...(on && { received_at: on }) };
        changed(await shop.orders.pay(id, body, { ifVersion: version }), "pay.done", {
          amount: formatMoney(paid, currency),
        });
      },
      field("amount", "pay.amount", { ...amount, value: amountText(due || total), required: true }),
      field("reference", "pay.reference", { maxlength: 200 }),
      field("received_at", "pay.on", { type: "date" }),
    ),
  );
}
