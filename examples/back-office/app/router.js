import { address, go, parse } from "./address.js";
import { focusOn } from "./dom.js";
import { apology, coded } from "./errors.js";
import { hasChanges, mayLeave, watchChanges } from "./form.js";
import { drawFrame } from "./frame.js";
import { isSignedIn, keepSession, knownStore, openStore } from "./store.js";

/** The modules by the first part of an address: one for the list, and one for a single record. */
const pages = {
  "": ["todo"],
  orders: ["orders/list", "orders/order"],
  products: ["products/list", "products/product"],
  customers: ["customers/list", "customers/customer"],
  more: ["settings/more"],
  shipping: ["settings/shipping"],
  taxes: ["settings/taxes"],
  codes: ["settings/codes"],
  mails: ["settings/mails"],
  sales: ["settings/sales"],
  account: ["account/account"],
  "sign-in": ["account/sign-in"],
  reset: ["account/reset"],
};
const open = ["sign-in", "reset"];

const main = document.querySelector("#main");
let controller = new AbortController();
let isFirst = true;

export function startRouter() {
  if (knownStore()) openStore(knownStore());
  addEventListener("hashchange", () => render());
  addEventListener("redraw", () => render());
  // The form whose call found the session ended must show its error first.
  addEventListener("signed-out", () => setTimeout(go, 0, address("sign-in", { next: location.hash, ended: 1 })));
  watchChanges();
  globalThis.navigation?.addEventListener("navigate", (event) => {
    if (event.hashChange && event.cancelable && !mayLeave()) event.preventDefault();
  });
  addEventListener("beforeunload", (event) => {
    if (hasChanges()) event.preventDefault();
  });
  return render();
}

async function render() {
  controller.abort();
  controller = new AbortController();
  const { signal } = controller;
  const route = { ...parse(location.hash), signal };
  try {
    if (!open.includes(route.name) && !(await isSignedIn())) {
      return go(address("sign-in", { next: location.hash }), { replace: true });
    }
    if (!open.includes(route.name)) await keepSession();
    main.ariaBusy = "true";
    await show(route);
  } catch (error) {
    if (signal.aborted) return;
    main.replaceChildren(apology(error, render));
  }
  if (signal.aborted) return;
  main.ariaBusy = null;
  drawFrame();
  scrollTo(0, 0);
  const heading = main.querySelector("h1");
  if (!isFirst) focusOn(heading);
  isFirst = false;
  document.title = `${heading?.textContent ?? ""} · ${document.querySelector("[data-store-title]").textContent}`;
}

async function show(route) {
  if (!Object.hasOwn(pages, route.name)) throw coded(5301);
  const [list, record = list] = pages[route.name];
  const { show: draw } = await import(`./${route.id ? record : list}.js`);
  const content = await draw(route);
  if (content && !route.signal.aborted) main.replaceChildren(content);
}
