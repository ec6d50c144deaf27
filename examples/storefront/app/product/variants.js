import { isAvailable } from "../catalogue/price.js";
import { h, slot, take } from "../dom.js";
import { named, t } from "../words.js";

/** Calls `choose` with the chosen variant, or null if no variant has these options. */
export function variantChooser({ variants, allow_backorder }, variantId, choose) {
  const names = [...new Set(variants.flatMap(({ options }) => Object.keys(options)))];
  const canBuy = (variant) => variant !== undefined && isAvailable({ ...variant, allow_backorder });
  const first = variants.find(({ id }) => id === variantId) ?? variants.find(canBuy) ?? variants[0];
  const chosen = { ...first.options };
  const find = (options) => variants.find((variant) => names.every((name) => variant.options[name] === options[name]));
  const choices = [];
  const groups = names.map((name) => {
    const values = [...new Set(variants.map(({ options }) => options[name]).filter(Boolean))];
    const labels = values.map((value) => {
      const input = { name: `option-${name}`, value, checked: chosen[name] === value };
      const label = take("option", { input, value: named("value", value) });
      choices.push({ name, value, label });
      return label;
    });
    return take("option-group", { name: named("option", name), options: labels });
  });
  const draw = () => {
    for (const { name, value, label } of choices) {
      const isOut = !canBuy(find({ ...chosen, [name]: value }));
      label.classList.toggle("is-out", isOut);
      slot(label, "note").textContent = isOut ? `, ${t("stock.none")}` : "";
    }
    choose(find(chosen) ?? null);
  };
  const onchange = ({ target }) => {
    chosen[target.name.slice("option-".length)] = target.value;
    draw();
  };
  draw();
  return h("div", { class: "options", onchange }, groups);
}
