import { fold, form, given } from "../form.js";
import { shop } from "../store.js";
import { formatMoney, t } from "../words.js";

export function drawPay({ id, version, due, total, currency }, changed) {
  const pay = async (values) => {
    const paid = await shop.orders.pay(id, given(values), { ifVersion: version });
    changed(paid, "pay.done", { amount: formatMoney(values.amount, currency) });
  };
  return fold(t("pay.open"), form("pay", pay, { amount: due || total }));
}
