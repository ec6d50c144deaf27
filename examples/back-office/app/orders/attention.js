import { h } from "../dom.js";
import { form, given } from "../form.js";
import { shop } from "../store.js";
import { t } from "../words.js";

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
