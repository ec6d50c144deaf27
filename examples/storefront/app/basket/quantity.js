import { slot, take } from "../dom.js";

export function quantityField({ value, label, onchange = () => {} }) {
  const field = take("quantity", {
    input: { value, "aria-label": label, onchange: () => change(0) },
    fewer: { onclick: () => change(-1) },
    more: { onclick: () => change(1) },
  });
  const input = slot(field, "input");
  const read = () => Math.min(99, Math.max(1, Math.trunc(input.value) || 1));
  const change = (by) => {
    input.value = read() + by;
    input.value = read();
    onchange(read());
  };
  return { field, read };
}
