import { section } from "../dom.js";
import { form } from "../form.js";
import { shop } from "../store.js";

export function drawNote({ id, version, staff_note, status }, changed) {
  if (status === "completed" && !staff_note) return null;
  const save = async (note) => changed(await shop.orders.update(id, note, { ifVersion: version }), "note.done");
  return section("note.title", form("note", save, { staff_note }));
}
