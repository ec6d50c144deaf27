import { language } from "./words.js";

/** `config.json` beside the page: which server, which store, and the storefront key. */
export const config = await (await fetch("config.json")).json();

const { createClient, BodegaError } = await import(new URL("/client.js", config.api).href);

export { BodegaError };

/** The client of the store. It keeps the tokens of the customer and of the visitor; sign-ins and sign-outs are an event. */
export const shop = createClient({
  url: config.api,
  namespace: config.namespace,
  app: config.key,
  lang: language,
  storage: localStorage,
  onSession: () => dispatchEvent(new Event("session")),
});

/** Whether somebody is signed in, as far as this browser knows. */
export const isSignedIn = async () => (await shop.auth.session()) !== null;
