import { parse } from "./address.js";
import { h, toast, translate } from "./dom.js";
import { explain } from "./errors.js";
import { mayLeave } from "./form.js";
import { isSignedIn, readProfile } from "./store.js";
import { language, loadWords, t } from "./words.js";

const find = (selector) => document.querySelector(selector);
const all = (selector) => document.querySelectorAll(selector);

export function startFrame() {
  for (const button of all(".languages button")) button.addEventListener("click", () => changeLanguage(button.value));
  find(".skip-link").addEventListener("click", (event) => {
    event.preventDefault();
    find("#main").focus();
  });
  addEventListener("online", drawConnection);
  addEventListener("offline", drawConnection);
}

export function drawFrame() {
  translate(document.body);
  for (const button of all(".languages button")) button.ariaPressed = String(button.value === language());
  const { name } = parse(location.hash);
  const shown = ["", "orders", "products", "customers"].includes(name) ? name : "more";
  for (const link of all(".places a")) link.ariaCurrent = link.dataset.place === shown ? "page" : null;
  drawConnection();
  void drawStore();
}

async function drawStore() {
  const isOpen = await isSignedIn();
  find(".places").hidden = !isOpen;
  document.body.classList.toggle("is-open", isOpen);
  const title = isOpen ? (await readProfile().catch(() => ({}))).title : null;
  find("[data-store-title]").textContent = title ?? t("frame.title");
}

function drawConnection() {
  find("#notice").replaceChildren(navigator.onLine ? "" : h("p", t("frame.offline")));
}

async function changeLanguage(next) {
  if (!mayLeave()) return;
  try {
    await loadWords(next);
    drawFrame();
    dispatchEvent(new Event("redraw"));
  } catch (error) {
    toast(explain(error));
  }
}
