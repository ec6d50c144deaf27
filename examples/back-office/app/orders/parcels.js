import { address } from "../address.js";
import { h, section } from "../dom.js";
import { actionButton, coded } from "../errors.js";
import { field, fold, form } from "../form.js";
import { line } from "../list.js";
import { shop } from "../store.js";
import { formatDate, t } from "../words.js";
import { lineName, unsent } from "./names.js";
import { pieces, readPieces } from "./pieces.js";

const carriers = ["DHL", "DPD", "GLS", "Hermes", "UPS", "FedEx", "USPS", "Royal Mail", "La Poste", "PostNL"];
const undoMs = 24 * 3_600_000;

export function drawShipping({ id, version, items }, changed) {
  const lines = items.filter((line) => unsent(line) > 0);
  return fold(
    "ship.open",
    form(
      "ship.submit",
      async (values) => {
        const chosen = readPieces(lines, values);
        if (chosen.length === 0) throw coded("noPieces");
        const body = { lines: chosen, tracking: readTracking(values) };
        changed(await shop.orders.addFulfillment(id, body, { ifVersion: version }), "ship.done");
      },
      lines.map((line) => pieces(line, unsent(line), unsent(line))),
      trackingFields({}),
    ),
  );
}

function trackingFields({ carrier, number, url }) {
  return [
    h(
      "datalist",
      { id: "carriers" },
      carriers.map((value) => h("option", { value })),
    ),
    field("carrier", "ship.carrier", { list: "carriers", maxlength: 50, value: carrier }),
    field("number", "ship.number", { maxlength: 100, value: number, autocomplete: "off" }),
    field("url", "ship.url", { type: "url", maxlength: 2000, value: url, hint: t("ship.urlHint") }),
  ];
}

function readTracking({ carrier, number, url }) {
  const given = { ...(carrier && { carrier }), ...(number && { number }), ...(url && { url }) };
  return Object.keys(given).length > 0 ? given : null;
}

export function drawParcels(order, changed) {
  if (order.fulfillments.length === 0) return null;
  return section(
    t("parcels.title"),
    h(
      "ul",
      { class: "lines" },
      order.fulfillments.map((one) => drawParcel(order, one, changed)),
    ),
  );
}

function drawParcel({ id, version, items }, { id: parcel, lines, tracking, created_at: at }, changed) {
  const path = { id, fulfillment_id: parcel };
  const names = lines.map(
    ({ line_id, quantity }) => `${quantity} × ${lineName(items.find((item) => item.id === line_id))}`,
  );
  const code = [tracking?.carrier, tracking?.number].filter(Boolean).join(" ");
  const link = tracking?.url &&
    /^https?:/.test(tracking.url) && { href: tracking.url, target: "_blank", rel: "noreferrer" };
  const undo = async () => {
    if (!confirm(t("parcel.undoSure"))) return;
    const reply = await shop.call("DELETE /orders/{id}/fulfillments/{fulfillment_id}/", { path, ifVersion: version });
    changed(reply.data, "parcel.undone");
  };
  const correct = async (values) => {
    const call = { path, body: { tracking: readTracking(values) }, ifVersion: version };
    changed((await shop.call("PATCH /orders/{id}/fulfillments/{fulfillment_id}/", call)).data, "parcel.corrected");
  };
  const slip = h("a", { class: "button is-quiet", href: address("orders", id, "slip", { parcel }) }, t("slip.open"));
  return line(
    t("parcel.sent", { date: formatDate(at) }),
    names.join(", "),
    null,
    h("p", {}, link ? h("a", link, code || t("parcel.follow")) : code),
    fold("parcel.correct", form("parcel.save", correct, trackingFields(tracking ?? {}))),
    h("p", { class: "buttons" }, slip, Date.now() - Date.parse(at) < undoMs && actionButton("parcel.undo", undo)),
  );
}
