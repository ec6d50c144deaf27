import { address, go } from "../address.js";
import { h, joined, page, set } from "../dom.js";
import { choice } from "../form.js";
import { line, none } from "../list.js";
import { readProfile, shop } from "../store.js";
import { formatDate, formatMoney, t } from "../words.js";

const styles = {
  day: { day: "numeric", month: "short" },
  week: { day: "numeric", month: "short" },
  month: { month: "short", year: "numeric" },
};
const slots = 30;
const size = { height: 220, left: 56, top: 12, bottom: 24 };

const svg = (tag, attributes, ...children) => {
  const element = set(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes);
  element.append(...children);
  return element;
};

/** Draws the sales and returns of the last thirty periods, as bars and as a list. */
export async function show({ query, signal }) {
  const by = Object.hasOwn(styles, query.get("by")) ? query.get("by") : "day";
  const periods = listPeriods(by);
  const [data, { currency }] = await Promise.all([
    shop.reports.sales({ by, since: periods[0] }, { signal }),
    readProfile(),
  ]);
  const options = Object.keys(styles).map((one) => [one, t(`sales.${one}`)]);
  const pick = choice("by", t("sales.by"), options, by);
  pick.addEventListener("change", ({ target }) => go(address("sales", { by: target.value })));
  const draw = (sums) => line(dateOf(sums.period, by), ...describe(sums));
  const list = data.length > 0 ? h("ul.lines", data.toReversed().map(draw)) : none();
  return page(t("sales.title"), pick, drawChart(periods, data, by, currency), drawLegend(), list);
}

/** Returns the server's names of the last periods up to today. The server itself leaves out periods without sales. */
function listPeriods(by) {
  const now = new Date();
  const [year, month, day] = [now.getFullYear(), now.getMonth(), now.getDate()];
  const monday = day - ((now.getDay() + 6) % 7);
  const first = (ago) => ({ day: [month, day - ago], week: [month, monday - 7 * ago], month: [month - ago, 1] })[by];
  const nameOf = (_, index) => new Date(Date.UTC(year, ...first(slots - 1 - index))).toISOString();
  return Array.from({ length: slots }, nameOf).map((time) => time.slice(0, by === "month" ? 7 : 10));
}

const dateOf = (period, by) => formatDate(period, { year: "numeric", ...styles[by], timeZone: "UTC" });

function describe({ orders, sold, returned, currency }) {
  const back = returned > 0 && t("sales.returned", { amount: formatMoney(returned, currency) });
  return [joined(t("sales.orders", { count: orders }), back), formatMoney(sold, currency)];
}

function drawLegend() {
  const draw = (kind) => h("span", h(`span.key.is-${kind}`), t(`sales.${kind}`));
  return h("p.legend", ["sold", "back"].map(draw));
}

function drawChart(periods, data, by, currency) {
  const { height, left, top, bottom } = size;
  const width = Math.min(innerWidth - 32, 860);
  const found = new Map(data.filter((one) => one.currency === currency).map((one) => [one.period, one]));
  const highest = roundUp(Math.max(...[...found.values()].flatMap(({ sold, returned }) => [sold, returned]), 1));
  const yOf = (amount) => height - bottom - (amount / highest) * (height - bottom - top);
  const step = (width - left) / slots;
  const lines = [0, highest / 2, highest].flatMap((amount) => [
    svg("line", { x1: left, x2: width, y1: yOf(amount), y2: yOf(amount) }),
    svg(
      "text",
      { x: left - 8, y: yOf(amount) + 4, "text-anchor": "end" },
      formatMoney(amount, currency, { notation: "compact" }),
    ),
  ]);
  const bars = periods.map((period, index) => {
    const sums = found.get(period) ?? { orders: 0, sold: 0, returned: 0, currency };
    const bar = (kind, amount, x) =>
      svg("rect", { class: kind, x, y: yOf(amount), width: step * 0.4, height: height - bottom - yOf(amount) });
    const x = left + index * step;
    const title = svg("title", {}, joined(dateOf(period, by), ...describe(sums).toReversed()));
    return svg("g", {}, title, bar("is-sold", sums.sold, x), bar("is-back", sums.returned, x + step * 0.4));
  });
  const ends = { start: 0, middle: slots / 2, end: slots };
  const dates = Object.entries(ends).map(([anchor, index]) => {
    const text = formatDate(periods[Math.min(index, slots - 1)], { ...styles[by], timeZone: "UTC" });
    return svg("text", { x: left + step * index, y: height - 6, "text-anchor": anchor }, text);
  });
  const attributes = { class: "chart", role: "img", "aria-label": t("sales.chart"), viewBox: `0 0 ${width} ${height}` };
  return svg("svg", attributes, ...lines, ...bars, ...dates);
}

/** Rounds up to 1, 2, 4, 6, 8 or 10 times a power of ten, because half of such an amount is a short text, too. */
function roundUp(amount) {
  const power = 10 ** Math.floor(Math.log10(amount));
  return power * [1, 2, 4, 6, 8, 10].find((digit) => digit * power >= amount);
}
