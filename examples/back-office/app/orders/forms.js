import { h, section } from "../dom.js";
import { fold, form, given } from "../form.js";
import { shop } from "../store.js";
import { formatMoney, t } from "../words.js";

export function drawAttention({ id, version, needs_attention: needs }, changed) {
  return needs.map((kind) => {
    const decide = async (values) => {
      const call = { path: { id }, body: { kind, ...given(values) }, ifVersion: version };
      changed((await shop.call("POST /orders/{id}/attention/", call)).data, "attention.done");
    };
    const help = h("p", t(`attention.${kind}.help`));
    return h("section.alert", h("h2", t(`attention.${kind}`)), help, form("attention", decide));
  });
}

export function drawPay({ id, version, due, total, currency }, changed) {
  const pay = async (values) => {
    const paid = await shop.orders.pay(id, given(values), { ifVersion: version });
    changed(paid, "pay.done", { amount: formatMoney(values.amount, currency) });
  };
  return fold(t("pay.open"), form("pay", pay, { amount: due || total }));
}

export function drawNote({ id, version, staff_note, status }, changed) {
  if (status === "completed" && !staff_note) return null;
  const save = async (note) => changed(await shop.orders.update(id, note, { ifVersion: version }), "note.done");
  return section("note.title", form("note", save, { staff_note }));
}
