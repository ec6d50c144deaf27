import { t } from "./words.js";

const isNone = (value) => (value ?? false) === false;

/** Sets the attributes that have a value. */
export function set(element, attributes) {
  for (const [name, value] of Object.entries(attributes)) {
    if (!isNone(value)) element.setAttribute(name, value === true ? "" : value);
  }
  return element;
}

/** Creates an element with classes, attributes and children: `h("p.hint", { id: "x" }, "text")`. */
export function h(name, ...children) {
  const [tag, ...classes] = name.split(".");
  const element = document.createElement(tag);
  if (classes.length > 0) element.className = classes.join(" ");
  for (const child of children.flat(Infinity)) {
    if (child?.constructor === Object) set(element, child);
    else if (!isNone(child)) element.append(child);
  }
  return element;
}

/** Sets the texts of the descendants that have `data-word`, and the labels of those that have `data-label`. */
export function translate(root, values) {
  for (const element of root.querySelectorAll("[data-word], [data-label]")) {
    const { word, label } = element.dataset;
    if (word) element.textContent = t(word, values);
    if (label) element.ariaLabel = t(label);
  }
}

const toasts = document.querySelector("#toast");
let fading;
let place;
addEventListener("hashchange", () => place !== location.hash && toasts.replaceChildren());

/** Shows a text for six seconds, or until the user leaves the page. */
export function toast(text) {
  place = location.hash;
  toasts.replaceChildren(h("p", text));
  clearTimeout(fading);
  fading = setTimeout(() => toasts.replaceChildren(), 6000);
}

export function focusOn(element) {
  if (!element) return;
  if (element.tabIndex < 0) element.tabIndex = -1;
  element.focus({ preventScroll: true });
}

export const section = (word, ...children) => h("section", h("h2", t(word)), children);

export const page = (title, ...children) => h("div.page", h("h1", { tabindex: -1 }, title), children);

export const narrowPage = (word, ...children) => h("div.page.narrow", h("h1", { tabindex: -1 }, t(word)), children);

/** Creates a term with its value, for `facts`. Returns nothing if there is no value. */
export const fact = (word, value) => value && h("div", h("dt", t(word)), h("dd", value));

export const facts = (...all) => h("dl.facts", all);

export const badge = (word, tone = "") => h("span", { class: `badge ${tone}` }, t(word));

export const link = (href, word) => h("p", h("a", { href }, t(word)));

export const joined = (...parts) => parts.filter(Boolean).join(" · ");

/** Downloads a text as a file. The browser does not open it, because its scripts could then act for the user. */
export function save(name, text, type) {
  const href = URL.createObjectURL(new Blob([text], { type }));
  h("a", { href, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(href), 60_000);
}
