import { address } from "../address.js";
import { h, page } from "../dom.js";
import { actionButton } from "../errors.js";
import { none } from "../list.js";
import { readProfile } from "../store.js";
import { formatDate, t } from "../words.js";
import { addressLines, lineName, unsent } from "./names.js";

/**
 * Draws the packing slip of a parcel, of all unsent pieces, or if there are none, of all sent pieces. It has no prices,
 * because the goods may be a present.
 */
export async function drawSlip(order, parcelId) {
  const { id, number, created_at: at, items, shipping_address: to, note, fulfillments, status } = order;
  const { title } = await readProfile();
  const parcel = fulfillments.find((one) => one.id === parcelId);
  const goods = items.filter((line) => line.requires_shipping);
  const ofOrder = goods.some((line) => unsent(line) > 0) ? unsent : (line) => line.fulfilled_quantity;
  const ofParcel = (line) => parcel.lines.find(({ line_id }) => line_id === line.id)?.quantity ?? 0;
  const quantityOf = parcel ? ofParcel : ofOrder;
  const lines = goods.filter((line) => quantityOf(line) > 0);
  const cells = (line) => [quantityOf(line), lineName(line), line.sku ?? ""].map((text) => h("td", String(text)));
  const heads = ["slip.count", "slip.goods", "slip.sku"].map((word) => h("th", { scope: "col" }, t(word)));
  const rows = lines.map((line) => h("tr", cells(line)));
  const mustNotGo = ["pending", "cancelled", "expired"].includes(status);
  const content = page(
    t("slip.title"),
    mustNotGo && h("p.slip-stop", { role: "alert" }, t(`slip.${status}`)),
    h("p.slip-from", title),
    h("p", t("slip.order", { number, date: formatDate(at, { dateStyle: "long" }) })),
    to && h("p.slip-to", addressLines({ ...to, vat_id: null })),
    rows.length === 0 ? none("slip.none") : h("table", h("thead", h("tr", heads)), h("tbody", rows)),
    note && h("p", h("strong", t("buyer.note")), " ", note),
    h(
      "p.buttons",
      actionButton("slip.print", () => print(), ""),
      h("a.button.is-quiet", { href: address("orders", id) }, t("slip.back")),
    ),
  );
  content.classList.add("slip");
  return content;
}
