import type { ServerResponse } from "node:http";
import { startMessageServer } from "./message-server.ts";
import { createBrowser, type PushBrowser } from "./push-browser.ts";

/** A message as received. */
export interface ReceivedPush {
  /** The endpoint's path. */
  path: string;
  headers: Record<string, string | undefined>;
  body: Uint8Array;
}

/** A browser that is subscribed at the service. */
export interface Subscriber extends PushBrowser {
  subscription: { endpoint: string; keys: PushBrowser["keys"] };
  path: string;
  /** Its messages, decrypted with its keys. */
  messages: () => Record<string, unknown>[];
}

/** A real push service on loopback. */
export interface PushService {
  origin: string;
  received: ReceivedPush[];
  subscribe: () => Subscriber;
  close: () => Promise<void>;
}

/** Starts a push service. @param answer answers each message; 201 unless given. */
export async function startPushService(
  answer: (response: ServerResponse, message: ReceivedPush) => unknown = (response) => response.writeHead(201).end(),
  options?: { secure?: boolean },
): Promise<PushService> {
  const received: ReceivedPush[] = [];
  let subscribers = 0;
  const { origin, close } = await startMessageServer((request, body, response) => {
    const headers = request.headers as ReceivedPush["headers"];
    const message = { path: request.url ?? "", headers, body: new Uint8Array(body) };
    received.push(message);
    answer(response, message);
  }, options);
  return {
    ...{ origin, close },
    received,
    subscribe() {
      subscribers += 1;
      const path = `/send/${subscribers}`;
      const browser = createBrowser();
      const messages = () =>
        received.filter((message) => message.path === path).map(({ body }) => JSON.parse(browser.decrypt(body)));
      return { ...browser, path, subscription: { endpoint: `${origin}${path}`, keys: browser.keys }, messages };
    },
  };
}
