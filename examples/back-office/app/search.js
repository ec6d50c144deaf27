import { address, go } from "./address.js";
import { h } from "./dom.js";
import { choice, field } from "./form.js";
import { t } from "./words.js";

/** The search of a list, which its address keeps. Options are pairs of a query, such as `status=paid`, and a text. */
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
