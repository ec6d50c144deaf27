import { h } from "../dom.js";
import { area, choice, form } from "../form.js";
import { shop } from "../store.js";
import { t } from "../words.js";

/** What a person must decide, with a note of the decision. */
export function drawAttention({ id, version, needs_attention: needs }, changed) {
  return needs.map((kind) =>
    h(
      "section",
      { class: "alert" },
      h("h2", {}, t(`attention.${kind}`)),
      h("p", {}, t(`attention.${kind}.help`)),
      form(
        "attention.submit",
        async ({ action, note }) => {
          const decision = { kind, action, ...(note && { note }) };
          const call = { path: { id }, body: decision, ifVersion: version };
          changed((await shop.call("POST /orders/{id}/attention/", call)).data, "attention.done");
        },
        choice(
          "action",
          "attention.action",
          ["accept", "dismiss"].map((one) => [one, t(`attention.${one}`)]),
          "accept",
        ),
        area("note", "attention.note", "", { maxlength: 2000, rows: 2 }),
      ),
    ),
  );
}
