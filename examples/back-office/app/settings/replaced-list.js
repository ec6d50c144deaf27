import { focusOn, h, page, toast } from "../dom.js";
import { actionButton } from "../errors.js";
import { fold, form } from "../form.js";
import { t } from "../words.js";

/** A page of rates, which the server replaces as a whole: each has a form, and saving one sends all. */
export function drawReplacedList(kind, rates, parts) {
  const { name, fields, read, save } = parts;
  const redraw = async (next) => {
    const fresh = drawReplacedList(kind, await save(next), parts);
    content.replaceWith(fresh);
    focusOn(fresh.querySelector("h1"));
    toast(t("product.saved"));
  };
  const drawRate = (rate, index) => {
    const root = fold(
      `${kind}.add`,
      form("product.save", (values) => redraw(rates.with(index, read(values, rate))), fields(rate)),
      actionButton(`${kind}.remove`, async () => {
        if (confirm(t(`${kind}.removeSure`, { name: name(rate) }))) await redraw(rates.toSpliced(index, 1));
      }),
    );
    root.querySelector("summary").textContent = name(rate);
    return root;
  };
  const content = page(
    t(`${kind}.title`),
    h("p", {}, t(`${kind}.help`)),
    rates.length === 0 && h("p", { class: "none" }, t("list.none")),
    rates.map(drawRate),
    fold(
      `${kind}.add`,
      form(`${kind}.add`, (values) => redraw([...rates, read(values, {})]), fields({})),
    ),
  );
  return content;
}
