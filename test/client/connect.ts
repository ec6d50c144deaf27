import type { Client, ClientOptions, TokenStorage } from "../../src/client/client.ts";
import { peerHeader } from "../support/app.ts";
import { newAddress } from "../support/client.ts";
import type { Shop } from "../support/factories.ts";
import type { loadBuiltClient } from "./built-client.ts";

type Built = Awaited<ReturnType<typeof loadBuiltClient>>;

/** Creates a client of a store with its key. By default, each client has another IP address. */
export function connect(
  { createClient }: Built,
  { namespace, key }: Shop,
  options: { url: string } & Partial<ClientOptions>,
): Client {
  const address = newAddress();
  return createClient({
    ...{ namespace, app: { id: key.app_id, secret: key.app_secret } },
    fetch: (url, init) => fetch(url, { ...init, headers: { ...(init.headers as object), [peerHeader]: address } }),
    ...options,
  });
}

/** Returns the error of a client's call. Throws if the call succeeds, or fails with another kind of error. */
export async function failureOf({ BodegaError }: Built, call: Promise<unknown>) {
  const error = await call.then(
    () => "no error",
    (thrown: unknown) => thrown,
  );
  if (error instanceof BodegaError) return error;
  throw new Error(`It did not fail as expected: ${error}`);
}

/** Creates a storage that several clients share, as tabs of a browser share `localStorage`. */
export function sharedStorage(): TokenStorage & { items: Map<string, string> } {
  const items = new Map<string, string>();
  return {
    items,
    getItem: (name) => items.get(name) ?? null,
    setItem: (name, value) => items.set(name, value),
    removeItem: (name) => items.delete(name),
  };
}
