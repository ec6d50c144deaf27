import { address, go, parse } from "./address.js";
import { readBasket } from "./basket/basket.js";
import { h, toast, translate } from "./dom.js";
import { isOffline, optionally } from "./errors.js";
import { render } from "./router.js";
import { config, isSignedIn } from "./shop.js";
import { priceNote, readStore, sentence } from "./store.js";
import { hasWords, language, loadWords, t } from "./words.js";

const find = (selector) => document.querySelector(selector);
const all = (selector) => document.querySelectorAll(selector);

export function startFrame(name) {
  for (const element of all("[data-shop-name]")) element.textContent = name;
  find("[data-docs]").href = new URL("/docs", config.api).href;
  find(".languages").addEventListener("click", ({ target }) => changeLanguage(target.value));
  find(".search").addEventListener("submit", search);
  addEventListener("hashchange", markPlace);
  // The link must not change the hash, because the hash names the page.
  find(".skip-link").addEventListener("click", (event) => {
    event.preventDefault();
    find("#main").focus();
  });
  addEventListener("basket", drawBasketCount);
  addEventListener("session", drawAccount);
  watchConnection();
}

export function drawFrame() {
  translate(document.body);
  for (const button of all(".languages button")) button.ariaPressed = String(button.value === language());
  drawBasketCount();
  void drawAccount();
  void optionally(drawLegal);
  markPlace();
}

async function drawLegal() {
  const store = await readStore();
  find("[data-prices]").textContent = t("frame.prices", { note: sentence(priceNote(store)) });
  const links = Object.entries(store.legal_urls).map(([name, href]) => {
    const word = `legal.${name}`;
    return h("a", { href }, hasWords(word) ? t(word) : name);
  });
  find("[data-legal]").replaceChildren(...links);
}

async function changeLanguage(next) {
  try {
    await loadWords(next);
    drawFrame();
    await render({ fresh: true });
  } catch {
    toast(t("error.network"));
  }
}

function search(event) {
  event.preventDefault();
  const q = event.target.q.value.trim();
  go(q ? address("", { q }) : "#/");
}

function markPlace() {
  const { name, query } = parse(location.hash);
  for (const link of all(".places a")) link.ariaCurrent = link.hash === address(name) ? "page" : null;
  find("#search").value = query.get("q") ?? "";
}

function drawBasketCount() {
  const count = readBasket().lines.reduce((sum, { quantity }) => sum + quantity, 0);
  const badge = find("[data-basket-count]");
  badge.hidden = count === 0;
  badge.textContent = count;
  find("[data-basket-words]").textContent = count === 0 ? "" : t("frame.pieces", { count });
}

async function drawAccount() {
  find("[data-account] span").textContent = t((await isSignedIn()) ? "frame.account" : "frame.signIn");
}

function watchConnection() {
  let isKept = false;
  const say = (word) => find("#notice").replaceChildren(word ? h("p", {}, t(word)) : "");
  addEventListener("offline", () => isOffline() && say("notice.offline"));
  addEventListener("online", () => {
    say();
    if (find(".apology") || isKept) void render({ fresh: true });
  });
  navigator.serviceWorker?.addEventListener("message", ({ data }) => {
    isKept = data === "kept";
    if (isKept) say("notice.kept");
    else if (!isOffline()) say();
  });
  if (isOffline()) say("notice.offline");
}
