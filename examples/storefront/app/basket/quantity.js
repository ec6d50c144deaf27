import { h, icon } from "../dom.js";
import { t } from "../words.js";

const most = 99;

/** A number with a button for less and one for more. `onchange` is called with the new number. */
export function quantityField({ value, label, least = 1, onchange = () => {} }) {
  const input = h("input", { type: "number", value, min: least, max: most, inputmode: "numeric", "aria-label": label });
  const read = () => Math.min(most, Math.max(least, Math.trunc(Number(input.value)) || least));
  const set = (next) => {
    input.value = next;
    input.value = read();
    onchange(read());
  };
  input.addEventListener("change", () => set(input.value));
  const step = (by, name) =>
    h(
      "button",
      { type: "button", "aria-label": `${t(name)}: ${label}`, onclick: () => set(read() + by) },
      icon(by < 0 ? "minus" : "plus"),
    );
  return { read, field: h("div", { class: "quantity" }, step(-1, "basket.less"), input, step(1, "basket.moreOf")) };
}
