import { h } from "../dom.js";
import { field } from "../form.js";
import { lineName } from "./names.js";

/** Creates a field for a number of pieces of a line. `left` is the maximum. */
export function pieces(line, left, value) {
  const attributes = { name: line.id, kind: "whole", type: "number", min: 0, max: left, value, required: true };
  const root = field(lineName(line), attributes);
  root.classList.add("pieces");
  root.append(h("span.of", `/ ${left}`));
  return root;
}

export function readPieces(lines, values) {
  return lines.map(({ id }) => ({ line_id: id, quantity: values[id] ?? 0 })).filter(({ quantity }) => quantity > 0);
}
