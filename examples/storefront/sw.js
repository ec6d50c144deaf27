const shellCache = "shop shell";
const goodsCache = "shop goods";
const patienceMs = 4000;
const maxKept = 200;

addEventListener("install", (event) => event.waitUntil(keepShell().then(skipWaiting)));

addEventListener("activate", (event) => event.waitUntil(clients.claim()));

addEventListener("fetch", (event) => {
  const { request } = event;
  if (request.method !== "GET") return;
  const { origin, pathname } = new URL(request.url);
  if (origin === location.origin) event.respondWith(freshOrKept(event, shellCache));
  // Replies about customers must not be cached. Browsers cache pictures without help.
  else if (/^\/(client\.js$|products\/|categories\/|store\/)/.test(pathname))
    event.respondWith(freshOrKept(event, goodsCache));
});

/** Caches all files of the shop, so that pages that were never opened also open offline. */
async function keepShell() {
  const [cache, files] = await Promise.all([caches.open(shellCache), fetch("shell.json")]);
  await cache.addAll(await files.json());
}

/** Returns the cached reply if the network fails or takes too long. */
async function freshOrKept(event, name) {
  const { request } = event;
  const live = fetch(request).then((response) => keep(name, request, response));
  const cache = await caches.open(name);
  const kept = await cache.match(request, { ignoreVary: true });
  if (!kept) return live;
  const slow = new Promise((resolve) => setTimeout(resolve, patienceMs, null));
  const fresh = await Promise.race([live.catch(() => null), slow]);
  const client = name === goodsCache && (await clients.get(event.clientId));
  if (client) client.postMessage(fresh ? "live" : "kept");
  return fresh ?? kept;
}

async function keep(name, request, response) {
  if (!response.ok) return response;
  const cache = await caches.open(name);
  await cache.put(request, response.clone());
  const kept = await cache.keys();
  if (kept.length > maxKept) await cache.delete(kept[0]);
  return response;
}

addEventListener("push", (event) => {
  const { title, body, tag, url, data } = event.data.json();
  const page = url ?? (data?.order_id ? `#/order/${data.order_id}` : "#/");
  event.waitUntil(registration.showNotification(title, { body, tag, icon: "icon.svg", data: { page } }));
});

addEventListener("notificationclick", (event) => {
  event.notification.close();
  event.waitUntil(openPage(new URL(event.notification.data.page, registration.scope).href));
});

async function openPage(url) {
  const [open] = await clients.matchAll({ type: "window" });
  if (!open) return clients.openWindow(url);
  await open.focus();
  return open.navigate(url);
}
