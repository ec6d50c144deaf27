import { address } from "../address.js";
import { h, section } from "../dom.js";
import { actionButton, coded } from "../errors.js";
import { fold, form, given } from "../form.js";
import { line } from "../list.js";
import { shop } from "../store.js";
import { formatDate, t } from "../words.js";
import { lineName, unsent } from "./names.js";
import { pieces, readPieces } from "./pieces.js";

const route = "/orders/{id}/fulfillments/{fulfillment_id}/";
const undoMs = 24 * 3_600_000;

export function drawShipping({ id, version, items }, changed) {
  const lines = items.filter((line) => unsent(line) > 0);
  const ship = async (values) => {
    const chosen = readPieces(lines, values);
    if (chosen.length === 0) throw coded("noPieces");
    const body = { lines: chosen, tracking: readTracking(values) };
    changed(await shop.orders.addFulfillment(id, body, { ifVersion: version }), "ship.done");
  };
  const fields = lines.map((line) => pieces(line, unsent(line), unsent(line)));
  return fold(t("ship.open"), form("ship", ship, {}, { lines: fields }));
}

function readTracking({ carrier, number, url }) {
  const tracking = given({ carrier, number, url });
  return Object.keys(tracking).length > 0 ? tracking : null;
}

export function drawParcels(order, changed) {
  if (order.fulfillments.length === 0) return null;
  const parcels = order.fulfillments.map((one) => drawParcel(order, one, changed));
  return section("parcels.title", h("ul.lines", parcels));
}

function drawParcel({ id, version, items }, { id: parcel, lines, tracking, created_at: at }, changed) {
  const path = { id, fulfillment_id: parcel };
  const nameOf = (id) => lineName(items.find((item) => item.id === id));
  const names = lines.map(({ line_id, quantity }) => `${quantity} × ${nameOf(line_id)}`);
  const { carrier, number, url } = tracking ?? {};
  const code = [carrier, number].filter(Boolean).join(" ");
  const isAddress = /^https?:/.test(url);
  const undo = async () => {
    if (!confirm(t("parcel.undoSure"))) return;
    const reply = await shop.call(`DELETE ${route}`, { path, ifVersion: version });
    changed(reply.data, "parcel.undone");
  };
  const correct = async (values) => {
    const call = { path, body: { tracking: readTracking(values) }, ifVersion: version };
    changed((await shop.call(`PATCH ${route}`, call)).data, "parcel.corrected");
  };
  const slip = h("a.button.is-quiet", { href: address("orders", id, "slip", { parcel }) }, t("slip.open"));
  const follow = { href: url, target: "_blank", rel: "noreferrer" };
  return line(
    t("parcel.sent", { date: formatDate(at) }),
    names.join(", "),
    null,
    h("p", isAddress ? h("a", follow, code || t("parcel.follow")) : code),
    fold(t("parcel.correct"), form("parcel", correct, { carrier, number, url })),
    h("p.buttons", slip, Date.now() - Date.parse(at) < undoMs && actionButton("parcel.undo", undo)),
  );
}
