import { language } from "./words.js";

/** `config.json` beside the page: which server, which store, and the storefront key. */
export const config = await loadConfig();

const { createClient, BodegaError } = await import(new URL("/client.js", config.api).href);

export { BodegaError };

const sessionListeners = new Set();

/** The client of the store. It keeps the tokens of the customer and of the visitor in `localStorage`. */
export const shop = createClient({
  url: config.api,
  namespace: config.namespace,
  app: config.key,
  lang: language,
  storage: localStorage,
  onSession: (session) => {
    for (const listener of sessionListeners) listener(session);
  },
});

/** Calls back with the session after a sign-in, and with null when it has ended. */
export function onSession(listener) {
  sessionListeners.add(listener);
}

/** Whether somebody is signed in, as far as this browser knows. */
export async function isSignedIn() {
  return (await shop.auth.session()) !== null;
}

async function loadConfig() {
  const response = await fetch("config.json");
  if (!response.ok) throw new Error(`config.json: ${response.status}`);
  return response.json();
}
