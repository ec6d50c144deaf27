import { isAvailable } from "../catalogue/price.js";
import { h } from "../dom.js";
import { hasWords, t } from "../words.js";

/**
 * A group of radio buttons for each option, such as size. Calls `choose` with the variant that has all chosen values, or with
 * null where the store makes none.
 */
export function variantChooser({ variants, allow_backorder }, variantId, choose) {
  const names = [...new Set(variants.flatMap(({ options }) => Object.keys(options)))];
  const canBuy = (variant) => variant !== undefined && isAvailable({ ...variant, allow_backorder });
  const first = variants.find(({ id }) => id === variantId) ?? variants.find(canBuy) ?? variants[0];
  const chosen = { ...first.options };
  const find = (options) => variants.find((variant) => names.every((name) => variant.options[name] === options[name]));
  const root = h("div", { class: "options" });

  const groups = names.map((name) => {
    const values = [...new Set(variants.map(({ options }) => options[name]).filter((value) => value !== undefined))];
    const choices = values.map((value) => {
      const input = h("input", { type: "radio", name: `option-${name}`, value, checked: chosen[name] === value });
      const note = h("span", { class: "visually-hidden" });
      return { value, input, note, label: h("label", { class: "option" }, input, h("span", null, value, note)) };
    });
    return { name, choices };
  });

  const draw = () => {
    for (const { name, choices } of groups) {
      for (const { value, note, label } of choices) {
        const isOut = !canBuy(find({ ...chosen, [name]: value }));
        label.classList.toggle("is-out", isOut);
        note.textContent = isOut ? `, ${t("stock.none")}` : "";
      }
    }
    choose(find(chosen) ?? null);
  };
  root.addEventListener("change", ({ target }) => {
    chosen[target.name.slice("option-".length)] = target.value;
    draw();
  });
  for (const { name, choices } of groups) {
    const known = `option.${name.toLowerCase()}`;
    const legend = h("legend", null, hasWords(known) ? t(known) : name);
    root.append(
      h(
        "fieldset",
        null,
        legend,
        h(
          "div",
          { class: "option-row" },
          choices.map(({ label }) => label),
        ),
      ),
    );
  }
  draw();
  return root;
}
