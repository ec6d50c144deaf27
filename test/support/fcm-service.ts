import { generateKeyPairSync } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { FcmAccount } from "../../src/server/config/push-config.ts";
import { type ReadToken, readToken } from "./json-web-token.ts";
import { startMessageServer } from "./message-server.ts";

/** A message that the service received. */
export interface FcmMessage {
  path: string;
  message: { token: string; [part: string]: unknown };
}

/**
 * A fake of Google's services. It issues access tokens for assertions that the account's key signed, and accepts
 * messages.
 */
export interface FcmService {
  origin: string;
  account: FcmAccount;
  /** The assertions of the requests for tokens so far. */
  asked: ReadToken[];
  received: FcmMessage[];
  /** The replies to the next requests for tokens and to the next messages, in order. Then it replies 200. */
  tokenAnswers: { status: number; body: object }[];
  answers: { status: number; body?: object; headers?: Record<string, string> }[];
  /** Revokes all tokens that it has issued. */
  revoke: () => void;
  close: () => Promise<void>;
}

/**
 * Starts the service on loopback, with HTTPS.
 * @param seconds the lifetime of its access tokens.
 */
export async function startFcmService({ seconds = 3600 } = {}): Promise<FcmService> {
  const { privateKey, publicKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
  const given = new Set<string>();
  const asked: ReadToken[] = [];
  const received: FcmMessage[] = [];
  const tokenAnswers: FcmService["tokenAnswers"] = [];
  const answers: FcmService["answers"] = [];
  const send = (response: ServerResponse, status: number, body: object, headers: Record<string, string> = {}) =>
    response.writeHead(status, { "content-type": "application/json", ...headers }).end(JSON.stringify(body));

  function take(request: IncomingMessage, bytes: Buffer, response: ServerResponse) {
    const text = bytes.toString("utf8");
    if (request.url === "/token") {
      const form = new URLSearchParams(text);
      if (form.get("grant_type") !== "urn:ietf:params:oauth:grant-type:jwt-bearer") return send(response, 400, {});
      asked.push(readToken(form.get("assertion") ?? "", publicKey));
      const other = tokenAnswers.shift();
      if (other) return send(response, other.status, other.body);
      const token = `ya29.${asked.length}`;
      given.add(token);
      return send(response, 200, { access_token: token, expires_in: seconds, token_type: "Bearer" });
    }
    const token = /^Bearer (\S+)$/.exec(request.headers.authorization ?? "")?.[1] ?? "";
    if (!given.has(token)) return send(response, 401, { error: { code: 401, status: "UNAUTHENTICATED" } });
    const other = answers.shift();
    if (other) return send(response, other.status, other.body ?? {}, other.headers);
    received.push({ path: request.url ?? "", ...(JSON.parse(text) as { message: FcmMessage["message"] }) });
    return send(response, 200, { name: `projects/p/messages/${received.length}` });
  }

  const { origin, close } = await startMessageServer(take, { secure: true });
  return {
    ...{ origin, close },
    account: {
      projectId: "demo-shop",
      clientEmail: "push@demo-shop.iam.gserviceaccount.com",
      privateKey: privateKey.export({ type: "pkcs8", format: "pem" }) as string,
      privateKeyId: "key-1",
      tokenUri: `${origin}/token`,
    },
    asked,
    received,
    tokenAnswers,
    answers,
    revoke: () => given.clear(),
  };
}
