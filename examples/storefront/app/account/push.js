import { slot, take } from "../dom.js";
import { explain } from "../errors.js";
import { shop } from "../shop.js";
import { language, t } from "../words.js";

/** The id and the secret of this browser's registration, with which it is removed. */
const kept = "shop notifications";

const findWorker = () => navigator.serviceWorker?.getRegistration();
const subscriptionOf = (worker) => worker?.pushManager?.getSubscription();

/** Notifications about orders and news; nothing where the browser or the store has none. */
export async function drawPush() {
  const worker = await findWorker();
  const { vapid_public_key: key, platforms = [] } = await shop.notifications.offer().catch(() => ({}));
  const isOffered = key && platforms.some(({ platform, delivery }) => platform === "web" && delivery === "on");
  if (!isOffered || !worker?.pushManager) return null;
  const panel = take("push");
  const button = slot(panel, "button");
  let isOn = localStorage.getItem(kept) !== null && (await subscriptionOf(worker)) !== null;
  const draw = () => {
    button.textContent = t(isOn ? "push.turnOff" : "push.turnOn");
  };
  button.addEventListener("click", async () => {
    button.disabled = true;
    slot(panel, "said").textContent = await (isOn ? unsubscribe(worker) : subscribe(worker, key)).catch(explainPush);
    isOn = localStorage.getItem(kept) !== null;
    button.disabled = false;
    draw();
  });
  draw();
  return panel;
}

/** Browsers have errors of their own: somebody said no, or the browser has no push service. */
function explainPush(error) {
  if (error.name === "NotAllowedError") return t("push.refused");
  return error.name === "AbortError" ? t("push.none") : explain(error);
}

async function subscribe(worker, applicationServerKey) {
  await register(await worker.pushManager.subscribe({ userVisibleOnly: true, applicationServerKey }));
  return t("push.on");
}

async function register(subscription) {
  const registration = { platform: "web", subscription: subscription.toJSON(), lang: language(), topics: ["news"] };
  const { id, management_secret } = await shop.notifications.register(registration);
  localStorage.setItem(kept, JSON.stringify({ id, management_secret }));
}

async function unsubscribe(worker) {
  const { id, ...body } = JSON.parse(localStorage.getItem(kept));
  await shop.call("DELETE /notifications/register/{id}/", { path: { id }, body });
  localStorage.removeItem(kept);
  await (await subscriptionOf(worker))?.unsubscribe();
  return t("push.off");
}

/** Registers again after a sign-in or sign-out, so that the notices about orders follow the customer. */
export async function followSession() {
  if (localStorage.getItem(kept) === null) return;
  const subscription = await subscriptionOf(await findWorker());
  if (subscription) await register(subscription).catch(console.warn);
}
