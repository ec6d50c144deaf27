import { go } from "../address.js";
import { badge, fact, facts, h, page, section, toast } from "../dom.js";
import { actionButton, coded } from "../errors.js";
import { form, given } from "../form.js";
import { drawList } from "../list.js";
import { readProfile, shop } from "../store.js";
import { amountText, formatDate, formatMoney, t } from "../words.js";

export async function show({ signal }) {
  const { currency } = await readProfile();
  const list = (cursor) => shop.call("GET /discounts/", { query: { limit: 50, cursor }, signal });
  return page(
    t("codes.title"),
    section("codes.present", await drawList({ page: list }, (code) => drawCode(code, currency))),
    section("codes.add", form("code", add)),
  );
}

function drawCode(code, currency) {
  const { id, until, uses, limit, minimum, free_shipping: isFree, percent, amount } = code;
  const cut = percent === null ? amount !== null && formatMoney(amount, currency) : `${amountText(percent)} %`;
  const isOver = until !== null && Date.parse(until) <= Date.now();
  const end = async () => {
    const { data } = await shop.call("POST /discounts/{id}/end/", { path: { id } });
    root.replaceWith(drawCode(data, currency));
    toast(t("codes.ended"));
  };
  const root = h(
    "li.boxed",
    h("strong", code.code),
    isOver && badge("codes.over"),
    facts(
      fact("codes.value", isFree ? t("codes.freeShipping") : cut),
      fact("codes.minimum", minimum !== null && formatMoney(minimum, currency)),
      fact("codes.uses", limit === null ? String(uses) : `${uses} / ${limit}`),
      fact("codes.until", until && formatDate(until)),
    ),
    !isOver && actionButton("codes.end", end),
  );
  return root;
}

async function add({ kind, value, once, until, ...rest }) {
  const isFree = kind === "free_shipping";
  if (!isFree && !value) throw coded("noValue");
  const body = {
    ...given(rest),
    [kind]: isFree || value,
    ...(once && { per_customer: 1 }),
    // The code is valid until the end of its last day.
    ...(until && { until: new Date(`${until}T23:59:59`).toISOString() }),
  };
  await shop.call("POST /discounts/", { body });
  go("#/codes");
  toast(t("codes.added"));
}
