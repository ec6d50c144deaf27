import { h, page } from "../dom.js";
import { actionButton, requireSame } from "../errors.js";
import { fold, form } from "../form.js";
import { none } from "../list.js";
import { replace } from "../replace.js";
import { t } from "../words.js";

/** Draws a page of rates. Each rate has a form. Saving one rate sends all rates. */
export function drawReplacedList(kind, rates, parts) {
  const { name, fill, read, load, save } = parts;
  const redraw = async (next) => {
    requireSame(await load(), rates);
    replace(content, drawReplacedList(kind, await save(next), parts), t("product.saved"));
  };
  const drawRate = (rate, index) => {
    const change = (values) => redraw(rates.with(index, read(values, rate)));
    const remove = async () => {
      if (confirm(t("rates.removeSure", { name: name(rate) }))) await redraw(rates.toSpliced(index, 1));
    };
    return fold(name(rate), form(kind, change, fill(rate)), actionButton(`${kind}.remove`, remove));
  };
  const add = (values) => redraw([...rates, read(values, {})]);
  const content = page(
    t(`${kind}.title`),
    h("p", t(`${kind}.help`)),
    rates.length === 0 && none(),
    rates.map(drawRate),
    fold(t(`${kind}.add`), form(kind, add)),
  );
  return content;
}
