import { createHmac } from "node:crypto";
import type { ServerResponse } from "node:http";
import { startMessageServer } from "./message-server.ts";

/** A message that the receiver got. */
export interface ReceivedMessage {
  id: string;
  timestamp: string;
  signature: string;
  host: string;
  text: string;
  body: { id: string; type: string; subject: string; data: unknown; created_at: string; namespace: string };
}

/** A real receiver of webhooks on loopback. */
export type Receiver = Awaited<ReturnType<typeof startReceiver>>;

/**
 * Starts a receiver.
 * @param answer replies to each message. Default: 204.
 */
export async function startReceiver(
  answer: (response: ServerResponse, message: ReceivedMessage) => unknown = (response) => response.writeHead(204).end(),
  options?: { secure?: boolean },
) {
  const received: ReceivedMessage[] = [];
  const { origin, port, close } = await startMessageServer((request, bytes, response) => {
    const text = bytes.toString("utf8");
    const header = (name: string) => String(request.headers[name]);
    const message = {
      id: header("webhook-id"),
      timestamp: header("webhook-timestamp"),
      signature: header("webhook-signature"),
      host: header("host"),
      text,
      body: text === "" ? {} : JSON.parse(text),
    };
    received.push(message);
    answer(response, message);
  }, options);
  return { url: `${origin}/hooks?from=bodega`, port, received, close };
}

/** Computes the signature of Standard Webhooks, independently of the program. */
export function expectedSignature(secret: string, { id, timestamp, text }: ReceivedMessage): string {
  const key = Buffer.from(secret.replace(/^whsec_/, ""), "base64");
  return `v1,${createHmac("sha256", key).update(id).update(".").update(timestamp).update(".").update(text).digest("base64")}`;
}
