/**
 * Makes an element: `h("a", { href: "#/" }, "Home")`. Attributes that are false, null or undefined are left out, `onclick` and the
 * like are listeners, and children may be nested lists with gaps. Texts never become markup.
 */
export function h(tag, attributes, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.flat(Infinity).filter((child) => child || child === 0));
  return element;
}

/** A drawing from the symbols at the end of `index.html`. It is for the eye only: the control beside it has a name. */
export function icon(name) {
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  svg.setAttribute("class", "icon");
  svg.setAttribute("aria-hidden", "true");
  const use = svg.appendChild(document.createElementNS(svg.namespaceURI, "use"));
  use.setAttribute("href", `#icon-${name}`);
  return svg;
}

let fading;

/** Shows a short message at the edge of the page, which screen readers speak. */
export function toast(...children) {
  const box = document.querySelector("#toast");
  box.replaceChildren(h("p", null, children));
  clearTimeout(fading);
  fading = setTimeout(() => box.replaceChildren(), 6000);
}

/** Moves the focus to what has appeared, so that keyboards and screen readers follow. */
export function focusOn(element) {
  if (!element) return;
  if (element.tabIndex < 0) element.tabIndex = -1;
  element.focus({ preventScroll: true });
}
