import { createHmac } from "node:crypto";
import { createServer as createPlain, type IncomingMessage, type ServerResponse } from "node:http";
import { createServer as createSecure } from "node:https";
import type { AddressInfo } from "node:net";
import { certificate, certificateKey } from "./certificate.ts";

/** A message as received. */
export interface ReceivedMessage {
  id: string;
  timestamp: string;
  signature: string;
  host: string;
  text: string;
  body: { id: string; type: string; subject: string; data: unknown; created_at: string; namespace: string };
}

/** A real receiver of webhooks on loopback. */
export interface Receiver {
  url: string;
  port: number;
  received: ReceivedMessage[];
  close: () => Promise<void>;
}

/** Starts a receiver. @param answer answers each message; 204 unless given. */
export async function startReceiver(
  answer: (response: ServerResponse, message: ReceivedMessage) => unknown = (response) => response.writeHead(204).end(),
  { secure = false }: { secure?: boolean } = {},
): Promise<Receiver> {
  const received: ReceivedMessage[] = [];
  const take = async (request: IncomingMessage, response: ServerResponse) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const text = Buffer.concat(chunks).toString("utf8");
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
  };
  const server = secure ? createSecure({ cert: certificate, key: certificateKey }, take) : createPlain(take);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `${secure ? "https" : "http"}://127.0.0.1:${port}/hooks?from=bodega`,
    port,
    received,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** The signature of Standard Webhooks, implemented independently. */
export function expectedSignature(secret: string, { id, timestamp, text }: ReceivedMessage): string {
  const key = Buffer.from(secret.replace(/^whsec_/, ""), "base64");
  return `v1,${createHmac("sha256", key).update(id).update(".").update(timestamp).update(".").update(text).digest("base64")}`;
}
