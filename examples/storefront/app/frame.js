import { address, go, parse } from "./address.js";
import { countPieces, onBasket } from "./basket/basket.js";
import { h, toast } from "./dom.js";
import { render } from "./router.js";
import { config, isSignedIn, onSession } from "./shop.js";
import { language, loadWords, t } from "./words.js";

const find = (selector) => document.querySelector(selector);
const all = (selector) => document.querySelectorAll(selector);

/** Brings the header and the footer of `index.html` to life. */
export function startFrame(name) {
  for (const element of all("[data-shop-name]")) element.textContent = name;
  const docs = find("[data-docs]");
  docs.href = new URL("/docs", config.api).href;
  docs.hidden = false;
  for (const button of all(".languages button")) button.addEventListener("click", () => changeLanguage(button.value));
  find(".search").addEventListener("submit", search);
  addEventListener("hashchange", markPlace);
  // The address belongs to the pages, so the link moves the focus by itself.
  find(".skip-link").addEventListener("click", (event) => {
    event.preventDefault();
    find("#main").focus();
  });
  onBasket(drawBasketCount);
  onSession(drawAccount);
  watchConnection();
}

/** Fills in the words of the current language. */
export function drawFrame() {
  for (const element of all("[data-word]")) element.textContent = t(element.dataset.word);
  for (const element of all("[data-label]")) element.setAttribute("aria-label", t(element.dataset.label));
  for (const element of all("[data-placeholder]")) element.placeholder = t(element.dataset.placeholder);
  for (const button of all(".languages button")) button.ariaPressed = String(button.value === language());
  drawBasketCount();
  void drawAccount();
  markPlace();
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
  for (const link of all(".places a")) {
    if (link.getAttribute("href") === address(name)) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  if (name === "") find("#search").value = query.get("q") ?? "";
}

function drawBasketCount() {
  const count = countPieces();
  const badge = find("[data-basket-count]");
  badge.hidden = count === 0;
  badge.textContent = count;
  find(".to-basket").setAttribute("aria-label", t("frame.basketOf", { count }));
}

async function drawAccount() {
  find("[data-account] span").textContent = t((await isSignedIn()) ? "frame.account" : "frame.signIn");
}

/** Says when the connection is lost, and reads the page again when it is back. */
function watchConnection() {
  const notice = find("#notice");
  const say = (text) => notice.replaceChildren(text ? h("p", null, text) : "");
  addEventListener("offline", () => say(t("notice.offline")));
  addEventListener("online", () => {
    say();
    void render({ fresh: true });
  });
  navigator.serviceWorker?.addEventListener("message", ({ data }) => {
    if (data === "kept") say(t("notice.kept"));
    if (data === "live" && navigator.onLine) say();
  });
  if (!navigator.onLine) say(t("notice.offline"));
}
