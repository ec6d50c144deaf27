import { address, go } from "./address.js";
import { h } from "./dom.js";
import { actionButton } from "./errors.js";
import { choice, field } from "./form.js";
import { t } from "./words.js";

export const none = (word = "list.none") => h("p.none", t(word));

/** Draws the first page of a list, with a button that adds the next page. */
export async function drawList(list, draw) {
  const { data, page } = await list.page();
  if (data.length === 0) return none();
  const rows = h("ul.rows", data.map(draw));
  const root = h("div", rows);
  const offer = ({ has_more: hasMore, next_cursor: cursor }) => {
    if (!hasMore) return;
    const more = actionButton("list.more", async () => {
      const next = await list.page(cursor);
      const added = next.data.map(draw);
      rows.append(...added);
      more.remove();
      offer(next.page);
      added[0]?.querySelector("a")?.focus();
    });
    root.append(more);
  };
  offer(page);
  return root;
}

const parts = (title, below, end) => [h("strong", title), h("span.below", below), h("span.end", end)];

/** Creates a line with a title, a text below it, and elements at its end. `more` comes below all of them. */
export const line = (title, below, end, ...more) => h("li", parts(title, below, end), more);

/** Creates a row that is a link, with a title, a text below it, and elements at its end. */
export const row = (href, title, below, ...end) => h("li", h("a.row", { href }, parts(title, below, end)));

/** Creates the search form of a list. Each option is a query, such as `status=paid`, and a text. */
export function searchForm(name, { q, word, hint, filter, options }) {
  const root = h("form", { class: "search", role: "search" });
  root.append(field(t(word), { name: "q", type: "search", value: q, maxlength: 100, enterkeyhint: "search", hint }));
  if (options) root.append(choice("filter", t("list.filter"), options, filter));
  root.append(h("button.button.is-quiet", t("list.search")));
  const apply = () => {
    const { q: words, filter: chosen } = root.elements;
    go(address(name, { q: words.value.trim(), ...Object.fromEntries(new URLSearchParams(chosen?.value)) }));
  };
  root.addEventListener("submit", (event) => {
    event.preventDefault();
    apply();
  });
  root.elements.filter?.addEventListener("change", apply);
  return root;
}
