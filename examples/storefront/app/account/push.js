import { slot, take, toast } from "../dom.js";
import { onClick, optionally } from "../errors.js";
import { shop } from "../shop.js";
import { language, t } from "../words.js";

const kept = "shop notifications";
const isOn = () => localStorage.getItem(kept) !== null;

export async function drawPush() {
  const worker = await navigator.serviceWorker?.getRegistration();
  const { vapid_public_key: key, platforms } = await shop.notifications.offer();
  const web = platforms.find(({ platform }) => platform === "web");
  if (web.delivery === "off" || !worker?.pushManager) return null;
  const panel = take("push");
  const button = slot(panel, "switch");
  const draw = () => {
    button.textContent = t(isOn() ? "push.turnOff" : "push.turnOn");
  };
  const change = async () => {
    toast(t(isOn() ? await unsubscribe(worker) : await subscribe(worker, key)));
    draw();
  };
  onClick(button, change);
  draw();
  return panel;
}

async function subscribe(worker, applicationServerKey) {
  if ((await Notification.requestPermission()) !== "granted") return "push.refused";
  const wish = { userVisibleOnly: true, applicationServerKey };
  const subscription = await worker.pushManager.subscribe(wish).catch(() => null);
  if (!subscription) return "push.none";
  await register(subscription);
  return "push.on";
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
  const subscription = await worker.pushManager.getSubscription();
  await subscription?.unsubscribe();
  return "push.off";
}

/** After a sign-in or sign-out, order notifications must go to the right customer. */
addEventListener("session", () =>
  optionally(async () => {
    const worker = isOn() && (await navigator.serviceWorker.getRegistration());
    const subscription = await worker?.pushManager?.getSubscription();
    if (subscription) await register(subscription);
  }),
);
