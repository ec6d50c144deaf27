import { address, go } from "../address.js";
import { h, page, set } from "../dom.js";
import { choice } from "../form.js";
import { line } from "../list.js";
import { shop } from "../store.js";
import { formatMoney, t } from "../words.js";

/** How far back the chart goes, by the length of its periods. */
const spans = { day: "30d", week: "210d", month: "900d" };
const slots = 30;
const height = 40;

const svg = (tag, attributes) => set(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes);

/** Sold and returned, as bars and as figures. The server leaves out periods without both. */
export async function show({ query, signal }) {
  const by = Object.hasOwn(spans, query.get("by")) ? query.get("by") : "day";
  const data = await shop.reports.sales({ by, since: spans[by] }, { signal });
  const options = Object.keys(spans).map((one) => [one, t(`sales.${one}`)]);
  const pick = choice("by", "sales.by", options, by);
  pick.addEventListener("change", ({ target }) => go(address("sales", { by: target.value })));
  const draw = ({ period, orders, sold, returned, currency }) => {
    const back = returned > 0 && t("sales.returned", { amount: formatMoney(returned, currency) });
    const below = [t("sales.orders", { count: orders }), back].filter(Boolean).join(" · ");
    return line(period, below, formatMoney(sold, currency));
  };
  const found = [drawChart(data), h("ul", { class: "lines" }, data.toReversed().map(draw))];
  return page(t("sales.title"), pick, data.length > 0 ? found : h("p", { class: "none" }, t("list.none")));
}

function drawChart(data) {
  const highest = Math.max(1, ...data.flatMap(({ sold, returned }) => [sold, returned]));
  const chart = svg("svg", { class: "chart", role: "img", "aria-label": t("sales.chart") });
  chart.setAttribute("viewBox", `0 0 ${Math.max(slots, data.length) * 4} ${height}`);
  const bar = (kind, amount, x) => {
    const size = (amount / highest) * height;
    chart.append(svg("rect", { class: kind, x, y: height - size, width: 1.5, height: size }));
  };
  for (const [index, { sold, returned }] of data.entries()) {
    bar("is-sold", sold, index * 4);
    bar("is-returned", returned, index * 4 + 1.5);
  }
  return chart;
}
