import { generateKeyPairSync } from "node:crypto";
import { createSecureServer, type ServerHttp2Session, type ServerHttp2Stream } from "node:http2";
import type { AddressInfo } from "node:net";
import type { ApnsAccount } from "../../src/server/config/push-config.ts";
import { certificate, certificateKey } from "./certificate.ts";
import { type ReadToken, readToken } from "./json-web-token.ts";

/** A message that the service received. */
export interface ApnsMessage {
  path: string;
  headers: Record<string, string | undefined>;
  payload: Record<string, unknown>;
  token: ReadToken;
}

/**
 * A fake of Apple's push service: HTTP/2 with TLS and a limit of streams. It verifies tokens with the account's key.
 */
export interface ApnsService {
  origin: string;
  account: ApnsAccount;
  received: ApnsMessage[];
  /** The replies to the next messages, in order. Then it replies 200. */
  answers: { status: number; reason?: string; headers?: Record<string, string> }[];
  connections: () => number;
  /** Stops replying. */
  fallSilent: () => void;
  /** Sends GOAWAY on every connection, as the real service does before a restart. */
  sendAway: () => void;
  close: () => Promise<void>;
}

/** Starts the service on loopback. */
export async function startApnsService({ maxConcurrentStreams = 100 } = {}): Promise<ApnsService> {
  const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const received: ApnsMessage[] = [];
  const answers: ApnsService["answers"] = [];
  const sessions = new Set<ServerHttp2Session>();
  let connections = 0;
  let isSilent = false;

  const server = createSecureServer({ cert: certificate, key: certificateKey, settings: { maxConcurrentStreams } });
  server.on("session", (session) => {
    connections += 1;
    sessions.add(session);
    session.on("close", () => sessions.delete(session));
    session.on("error", () => {});
  });
  server.on("stream", (stream: ServerHttp2Stream, headers) => {
    const chunks: Buffer[] = [];
    stream.on("error", () => {});
    stream.on("data", (chunk: Buffer) => chunks.push(chunk));
    stream.on("end", () => {
      if (!isSilent) answer(stream, headers as ApnsMessage["headers"], Buffer.concat(chunks).toString("utf8"));
    });
  });

  function answer(stream: ServerHttp2Stream, headers: ApnsMessage["headers"], text: string) {
    const token = readToken(String(headers.authorization).replace(/^bearer /, ""), publicKey);
    const other = answers.shift();
    received.push({ path: String(headers[":path"]), headers, payload: JSON.parse(text), token });
    stream.respond({ ":status": other?.status ?? 200, "apns-id": "id", ...other?.headers });
    stream.end(other?.reason === undefined ? "" : JSON.stringify({ reason: other.reason }));
  }

  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    origin: `https://127.0.0.1:${(server.address() as AddressInfo).port}`,
    account: {
      key: privateKey.export({ type: "pkcs8", format: "pem" }) as string,
      keyId: "KEY1234567",
      teamId: "TEAM123456",
      topic: "com.example.shop",
      isSandbox: false,
    },
    received,
    answers,
    connections: () => connections,
    fallSilent: () => {
      isSilent = true;
    },
    sendAway: () => {
      for (const session of sessions) session.goaway();
    },
    close: async () => {
      for (const session of sessions) session.destroy();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}
