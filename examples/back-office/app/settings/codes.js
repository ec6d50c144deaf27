import { badge, fact, facts, h, page, section, toast } from "../dom.js";
import { actionButton, coded } from "../errors.js";
import { amount, check, choice, field, form, whole } from "../form.js";
import { drawList } from "../list.js";
import { readProfile, shop } from "../store.js";
import { amountText, formatDate, formatMoney, readAmount, t } from "../words.js";

export async function show({ signal }) {
  const { currency } = await readProfile();
  const page1 = (cursor) => shop.call("GET /discounts/", { query: { limit: 50, ...(cursor && { cursor }) }, signal });
  return page(
    t("codes.title"),
    section(t("codes.present"), await drawList({ page: page1 }, (code) => drawCode(code, currency))),
    section(t("codes.add"), drawNew()),
  );
}

function drawCode(code, currency) {
  const { id, until, uses, limit, minimum, free_shipping: isFree, percent, amount: off } = code;
  const value = isFree
    ? t("codes.freeShipping")
    : percent !== null
      ? `${amountText(percent)} %`
      : formatMoney(off, currency);
  const isOver = until !== null && Date.parse(until) <= Date.now();
  const end = async () => {
    const { data } = await shop.call("POST /discounts/{id}/end/", { path: { id } });
    root.replaceWith(drawCode(data, currency));
    toast(t("codes.ended"));
  };
  const root = h(
    "li",
    { class: "boxed" },
    h("strong", {}, code.code),
    isOver && badge("codes.over", "is-quiet"),
    facts(
      fact("codes.value", value),
      fact("codes.minimum", minimum !== null && formatMoney(minimum, currency)),
      fact("codes.uses", limit === null ? String(uses) : `${uses} / ${limit}`),
      fact("codes.until", until && formatDate(until)),
    ),
    !isOver && actionButton("codes.end", end),
  );
  return root;
}

function drawNew() {
  const kinds = ["percent", "amount", "freeShipping"].map((kind) => [kind, t(`codes.${kind}`)]);
  return form(
    "codes.add",
    async (values) => {
      const number = readAmount(values.value);
      if (values.kind !== "freeShipping" && !number) throw coded("noValue");
      const kind = values.kind === "freeShipping" ? { free_shipping: true } : { [values.kind]: number };
      const { until, limit, minimum } = values;
      await shop.call("POST /discounts/", {
        body: {
          code: values.code,
          ...kind,
          ...(minimum && { minimum: readAmount(minimum) }),
          ...(limit && { limit: Number(limit) }),
          ...("once" in values && { per_customer: 1 }),
          // The code is valid on its last day.
          ...(until && { until: new Date(`${until}T23:59:59`).toISOString() }),
        },
      });
      toast(t("codes.added"));
      dispatchEvent(new Event("redraw"));
    },
    field("code", "codes.code", {
      required: true,
      maxlength: 50,
      pattern: "[A-Za-z0-9][A-Za-z0-9_\\-]*",
      autocapitalize: "characters",
    }),
    choice("kind", "codes.kind", kinds, "percent"),
    field("value", "codes.value", { ...amount, hint: t("codes.valueHint") }),
    field("minimum", "codes.minimum", amount),
    field("limit", "codes.limit", whole),
    check("once", "codes.once"),
    field("until", "codes.until", { type: "date" }),
  );
}
