import { coded } from "./errors.js";

const { createClient } = await import(new URL("../client.js", document.baseURI).href);

/** How long a session is valid without use. */
const seconds = 12 * 3600;
const everyMs = 3_600_000;
const storeKey = "back-office store";
const usedKey = "back-office refreshed";

/** Stores the session until the tab is closed, under names that no other page of the server uses. */
const storage = {
  getItem: (name) => sessionStorage.getItem(`back-office ${name}`),
  setItem: (name, value) => sessionStorage.setItem(`back-office ${name}`, value),
  removeItem: (name) => sessionStorage.removeItem(`back-office ${name}`),
};

export let shop;
/** The store that is open in this tab. Other tabs may have other stores open. */
let opened;
/** Replies that stay the same until somebody else signs in. */
let kept = {};
let isLeaving = false;

/** Returns the store that the address names, or the store that was opened last. */
export const knownStore = () =>
  new URLSearchParams(location.search).get("store") ?? localStorage.getItem(storeKey) ?? "";

export function openStore(namespace) {
  if (namespace === opened) return;
  opened = namespace;
  localStorage.setItem(storeKey, namespace);
  history.replaceState(history.state, "", `?${new URLSearchParams({ store: namespace })}${location.hash}`);
  kept = {};
  shop = createClient({
    url: new URL("..", document.baseURI).href,
    namespace,
    storage,
    onSession: (session) => {
      kept = {};
      if (session) sessionStorage.setItem(usedKey, Date.now());
      else if (!isLeaving) dispatchEvent(new Event("signed-out"));
    },
  });
}

export const isSignedIn = async () => Boolean(shop && (await shop.auth.session()));

/** Signs staff or an owner in. Errors: those of the call, and "customer" for a customer. */
export async function signIn(given) {
  await shop.auth.login({ ...given, expires_in: seconds });
  sessionStorage.setItem(usedKey, Date.now());
  const { role } = await readMe();
  if (role !== "customer") return;
  await signOut();
  throw coded("customer");
}

export async function signOut() {
  isLeaving = true;
  await shop.auth.logout().catch(console.warn);
  isLeaving = false;
  kept = {};
}

/** Renews the token once an hour while it is used. Without use, it expires after twelve hours. */
export async function keepSession() {
  if (Date.now() - Number(sessionStorage.getItem(usedKey)) < everyMs || !(await isSignedIn())) return;
  sessionStorage.setItem(usedKey, Date.now());
  await shop.auth.refresh().catch(console.warn);
}

function keep(name, read) {
  const reads = kept;
  reads[name] ??= read().catch((error) => {
    delete reads[name];
    throw error;
  });
  return reads[name];
}

export const readProfile = () => keep("profile", () => shop.store());

export const readMe = () => keep("me", () => shop.users.me());
