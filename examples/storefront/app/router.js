import { address, go, parse } from "./address.js";
import { focusOn } from "./dom.js";
import { apology } from "./errors.js";
import { isSignedIn } from "./shop.js";
import { t } from "./words.js";

/**
 * The pages by the first part of the address behind `#/`. A page exports `show(route)`, which returns its title and content, and
 * where it can follow a change of its own address (a filter), `update(route)`, which returns the new title. `placeholder()` is shown until then;
 * `forCustomers` sends visitors to sign in first.
 */
const pages = {
  "": () => import("./catalogue/page.js"),
  p: () => import("./product/page.js"),
  basket: () => import("./basket/page.js"),
  checkout: () => import("./basket/checkout.js"),
  orders: () => import("./orders/page.js"),
  order: () => import("./orders/order.js"),
  wishlist: () => import("./orders/wishlist.js"),
  account: () => import("./account/page.js"),
  "sign-in": () => import("./account/sign-in.js"),
  "sign-up": () => import("./account/sign-up.js"),
  reset: () => import("./account/reset.js"),
};

const main = document.querySelector("#main");
const scrolled = new Map();
let shopName = "";
let controller = new AbortController();
let current = {};
let visits = 0;

export function startRouter(name) {
  shopName = name;
  history.scrollRestoration = "manual";
  addEventListener("hashchange", () => render());
  addEventListener("scroll", () => scrolled.set(history.state?.visit, scrollY), { passive: true });
  return render();
}

/** Shows the page of the current address; `fresh` builds it anew. */
export async function render({ fresh = false } = {}) {
  const route = parse(location.hash);
  controller.abort();
  controller = new AbortController();
  const { signal } = controller;
  const isUpdate = !fresh && current.update && current.name === route.name && current.id === route.id;
  try {
    if (isUpdate) entitle(await current.update({ ...route, signal }));
    else await open({ ...route, signal }, fresh);
  } catch (error) {
    if (signal.aborted) return;
    current = {};
    put({ title: t("error.title"), content: apology(error, () => render({ fresh: true })) });
    focusOn(main.querySelector("h1"));
  }
}

async function open(route, fresh) {
  const page = await (pages[route.name] ?? pages[""])();
  if (page.forCustomers && !(await isSignedIn())) {
    return go(address("sign-in", { next: location.hash }), { replace: true });
  }
  if (!fresh) main.replaceChildren(page.placeholder?.() ?? "");
  main.setAttribute("aria-busy", "true");
  const shown = await page.show(route);
  if (route.signal.aborted) return;
  put(shown);
  const isFirst = !current.name;
  current = { ...route, update: shown.update };
  if (fresh) return;
  // A visit that has a number is returned to, and is shown where it was left.
  const visit = history.state?.visit;
  if (visit === undefined) history.replaceState({ visit: `${Date.now()}.${visits++}` }, "");
  scrollTo(0, scrolled.get(visit) ?? 0);
  if (!isFirst) focusOn(main.querySelector("h1"));
}

function entitle(title) {
  document.title = `${title} · ${shopName}`;
}

function put({ title, content }) {
  entitle(title);
  main.removeAttribute("aria-busy");
  main.replaceChildren(...[content].flat().filter(Boolean));
}
