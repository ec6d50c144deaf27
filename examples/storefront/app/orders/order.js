import { totals } from "../basket/totals.js";
import { picture } from "../catalogue/picture.js";
import { focusOn, h, slot, take } from "../dom.js";
import { act } from "../errors.js";
import { config, shop } from "../shop.js";
import { countryName, formatDate, formatMinor, t, variantName } from "../words.js";

export async function show({ id, query, signal }) {
  return draw(await shop.orders.get(id, {}, { signal }), query.has("placed"));
}

function draw(order, isPlaced) {
  const { number, status, created_at, items, currency } = order;
  const isPending = status === "pending";
  const content = take("order", {
    title: isPlaced ? t("order.thanks") : t("orders.number", { number }),
    lead: isPlaced ? t("order.placed", { number }) : t("order.of", { date: formatDate(created_at) }),
    state: { class: `state is-${status}`, text: t(`state.${status}`) },
    what: describe(order),
    demo: isPending && config.mail && {},
    lines: items.map((line) => drawLine(line, currency)),
    totals: totals(order),
    address: order.shipping_address && drawAddress(order.shipping_address),
    cancelling: isPending && {},
  });
  if (isPending) startCancelling(content, order);
  return content;
}

function describe({ status, expires_at, paid_at, fulfilled_at, cancelled_at }) {
  if (status === "pending") return t("order.pending", { time: formatDate(expires_at, { timeStyle: "short" }) });
  const at = { paid: paid_at, completed: fulfilled_at, cancelled: cancelled_at }[status];
  return t(`order.${status}`, { date: at ? formatDate(at, { dateStyle: "medium", timeStyle: "short" }) : "" });
}

function drawLine({ title, variant_title, quantity, total_minor, image, refunded_quantity: count }, currency) {
  return take("line", {
    picture: picture(image && { url: image }, "7rem"),
    title,
    variant: variantName(variant_title),
    note: count > 0 && t("order.refunded", { count }),
    row: t("order.pieces", { count: quantity }),
    cost: formatMinor(total_minor, currency),
  });
}

function drawAddress({ name, line1, line2, postal_code = "", city, country }) {
  const lines = [name, line1, line2, `${postal_code} ${city}`, countryName(country)];
  return lines.filter(Boolean).map((line) => h("span", {}, line));
}

function startCancelling(content, { id }) {
  const dialog = content.querySelector("dialog");
  const button = slot(content, "cancel");
  button.addEventListener("click", () => dialog.showModal());
  const cancel = async () => {
    const next = draw(await shop.orders.cancel(id), false);
    content.replaceWith(next);
    focusOn(next.querySelector("h1"));
  };
  dialog.addEventListener("close", () => dialog.returnValue === "yes" && act(button, cancel));
}
