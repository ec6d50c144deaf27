import { h } from "../dom.js";
import { field, whole } from "../form.js";
import { lineName } from "./names.js";

/** A field for the number of pieces of a line. `left` says how many there can be. */
export function pieces(line, left, value) {
  const root = field(line.id, "pieces.count", { ...whole, type: "number", min: 0, max: left, value, required: true });
  root.classList.add("pieces");
  root.querySelector("label").textContent = lineName(line);
  root.append(h("span", { class: "of" }, `/ ${left}`));
  return root;
}

/** Reads the fields: those lines that have a number of pieces. */
export function readPieces(lines, values) {
  return lines
    .map(({ id }) => ({ line_id: id, quantity: Number(values[id] ?? 0) }))
    .filter(({ quantity }) => quantity > 0);
}
