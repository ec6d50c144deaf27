import { slot, take } from "../dom.js";

export function quantityField({ value, label, onchange = () => {} }) {
  const field = take("quantity", { input: { value, "aria-label": label } });
  const input = slot(field, "input");
  const read = () => Math.min(99, Math.max(1, Math.trunc(input.value) || 1));
  const change = (by) => {
    input.value = read() + by;
    input.value = read();
    onchange(read());
  };
  input.addEventListener("change", () => change(0));
  slot(field, "fewer").addEventListener("click", () => change(-1));
  slot(field, "more").addEventListener("click", () => change(1));
  return { field, read };
}
