import { section } from "../dom.js";
import { area, form } from "../form.js";
import { shop } from "../store.js";
import { t } from "../words.js";

/** A note of the staff, which buyers never see. */
export function drawNote({ id, version, staff_note: note, status }, changed) {
  if (status === "completed" && !note) return null;
  return section(
    t("note.title"),
    form(
      "note.save",
      async ({ staff_note: text }) => {
        changed(await shop.orders.update(id, { staff_note: text || null }, { ifVersion: version }), "note.done");
      },
      area("staff_note", "note.label", note, { maxlength: 2000 }),
    ),
  );
}
