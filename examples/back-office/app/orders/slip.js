import { address } from "../address.js";
import { h, page } from "../dom.js";
import { actionButton } from "../errors.js";
import { readProfile } from "../store.js";
import { formatDate, t } from "../words.js";
import { addressLines } from "./address-lines.js";
import { lineName, unsent } from "./names.js";

/** The packing slip of a parcel, or of everything that is not sent yet. It has no prices, because it may be a present. */
export async function drawSlip(order, parcelId) {
  const { id, number, created_at: at, items, shipping_address: to, note, fulfillments } = order;
  const { title } = await readProfile();
  const parcel = fulfillments.find((one) => one.id === parcelId);
  const quantityOf = parcel ? (line) => parcel.lines.find(({ line_id }) => line_id === line.id)?.quantity ?? 0 : unsent;
  const lines = items
    .map((line) => [line, quantityOf(line)])
    .filter(([line, count]) => count > 0 && line.requires_shipping);
  const content = page(
    t("slip.title"),
    h("p", { class: "slip-from" }, title),
    h("p", {}, t("slip.order", { number, date: formatDate(at, { dateStyle: "long" }) })),
    to && h("p", { class: "slip-to" }, addressLines(to)),
    h(
      "table",
      {},
      h(
        "thead",
        {},
        h(
          "tr",
          {},
          ["slip.count", "slip.goods", "slip.sku"].map((word) => h("th", { scope: "col" }, t(word))),
        ),
      ),
      h(
        "tbody",
        {},
        lines.map(([line, count]) =>
          h(
            "tr",
            {},
            [count, lineName(line), line.sku ?? ""].map((text) => h("td", {}, String(text))),
          ),
        ),
      ),
    ),
    note && h("p", {}, h("strong", {}, t("buyer.note")), " ", note),
    h(
      "p",
      { class: "buttons" },
      actionButton("slip.print", () => print(), ""),
      h("a", { class: "button is-quiet", href: address("orders", id) }, t("slip.back")),
    ),
  );
  content.classList.add("slip");
  return content;
}
