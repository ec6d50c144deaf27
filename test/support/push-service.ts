import type { ServerResponse } from "node:http";
import { startMessageServer } from "./message-server.ts";
import { createBrowser, type PushBrowser } from "./push-browser.ts";

/** A message that the service received. */
export interface ReceivedPush {
  /** The path of the endpoint. */
  path: string;
  headers: Record<string, string | undefined>;
  body: Uint8Array;
}

/** A browser with a subscription at the service. */
export interface Subscriber extends PushBrowser {
  subscription: { endpoint: string; keys: PushBrowser["keys"] };
  path: string;
  /** Returns the browser's messages, decrypted. */
  messages: () => Record<string, unknown>[];
}

/** A real push service on loopback. */
export interface PushService {
  origin: string;
  received: ReceivedPush[];
  subscribe: () => Subscriber;
  close: () => Promise<void>;
}

/**
 * Starts a push service.
 * @param answer replies to each message. Default: 201.
 */
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
