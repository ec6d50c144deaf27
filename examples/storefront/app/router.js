import { address, go, parse } from "./address.js";
import { focusOn } from "./dom.js";
import { apology, coded } from "./errors.js";
import { takeToken } from "./orders/access.js";
import { isSignedIn } from "./shop.js";

/** The module for the first part of an address. `show(route)` returns its content; `update(route)` changes a filter. */
const pages = {
  "": "catalogue/page",
  p: "product/page",
  basket: "basket/page",
  checkout: "basket/checkout",
  orders: "orders/page",
  order: "orders/order",
  link: "orders/link",
  withdraw: "orders/withdraw",
  legal: "legal/page",
  wishlist: "orders/wishlist",
  account: "account/page",
  "sign-in": "account/sign-in",
  "sign-up": "account/sign-up",
  reset: "account/reset",
};
const forCustomers = ["orders", "wishlist", "account"];

const main = document.querySelector("#main");
const toasts = document.querySelector("#toast");
const scrolled = new Map();
let shopName = "";
let controller = new AbortController();
let current = {};
let isFirst = true;

export function startRouter(name) {
  shopName = name;
  history.scrollRestoration = "manual";
  addEventListener("hashchange", () => render());
  // The session may have ended in another tab.
  addEventListener("session", async () => (await mustSignIn(parse(location.hash))) && render());
  addEventListener("scroll", () => scrolled.set(history.state?.visit, scrollY), { passive: true });
  return render();
}

const mustSignIn = async ({ name }) => forCustomers.includes(name) && !(await isSignedIn());

export async function render({ fresh = false } = {}) {
  controller.abort();
  takeToken();
  if (toasts.dataset.page !== location.hash) toasts.replaceChildren();
  controller = new AbortController();
  const { signal } = controller;
  const route = { ...parse(location.hash), signal };
  const isUpdate = !fresh && current.update && current.name === route.name && current.id === route.id;
  try {
    if (isUpdate) await current.update(route);
    else await open(route, fresh);
    if (signal.aborted) return;
    isFirst = false;
  } catch (error) {
    if (signal.aborted) return;
    current = {};
    main.ariaBusy = null;
    main.replaceChildren(apology(error, () => render({ fresh: true })));
    focusOn(main.querySelector("h1"));
  }
  entitle();
}

async function open(route, fresh) {
  const { name, signal } = route;
  if (!Object.hasOwn(pages, name)) throw coded(5301);
  if (await mustSignIn(route)) return go(address("sign-in", { next: location.hash }), { replace: true });
  const waiting = document.getElementById(`wait-${name}`);
  if (!fresh && waiting) main.replaceChildren(waiting.content.cloneNode(true));
  main.ariaBusy = "true";
  const page = await import(`./${pages[name]}.js`);
  const shown = await page.show(route);
  // A page that returns no content has opened another page.
  if (signal.aborted || !shown) return;
  const { content = shown, update } = shown;
  main.ariaBusy = null;
  main.replaceChildren(content);
  current = { ...route, update };
  if (fresh) return;
  // An entry of the history that has a number was visited before: its scroll position is restored.
  const visit = history.state?.visit;
  if (visit === undefined) history.replaceState({ visit: Date.now() }, "");
  scrollTo(0, scrolled.get(visit) ?? 0);
  if (!isFirst) focusOn(main.querySelector("h1"));
}

function entitle() {
  const heading = main.querySelector("h1")?.textContent;
  document.title = heading ? `${heading} · ${shopName}` : shopName;
}
