import { connect, type Socket } from "node:net";
import type { TestApp } from "./app.ts";

/** A received reply. */
export interface RawReply {
  status: number;
  headers: Headers;
  text: string;
}

/** A request whose every byte is given. */
export interface RawRequest {
  /** The request line, such as `GET /path HTTP/1.1`. */
  head: string;
  headers?: Record<string, string>;
  body?: string | Uint8Array;
}

const timeoutMs = 10_000;

/** A connection for requests that no HTTP client would send. */
export interface RawConnection {
  write: (bytes: string | Uint8Array) => void;
  /** Reads the next complete reply; null if the server closes the connection first. Replies to `HEAD` have no body. */
  read: (method?: string) => Promise<RawReply | null>;
  /** Resolves when the server has closed the connection. */
  closed: Promise<void>;
  end: () => void;
}

/** Opens a connection to the server under test. */
export function openConnection(app: TestApp): RawConnection {
  const socket: Socket = connect({ host: "127.0.0.1", port: app.port });
  let received = Buffer.alloc(0);
  let wake = () => {};
  let isClosed = false;
  const ended = Promise.withResolvers<void>();
  socket.on("data", (chunk: Buffer) => {
    received = Buffer.concat([received, chunk]);
    wake();
  });
  socket.on("error", () => {});
  socket.on("close", () => {
    isClosed = true;
    ended.resolve();
    wake();
  });

  function takeReply(method: string): RawReply | null | undefined {
    const split = received.indexOf("\r\n\r\n");
    if (split === -1) return isClosed ? null : undefined;
    const [statusLine = "", ...lines] = received.subarray(0, split).toString("latin1").split("\r\n");
    const headers = new Headers();
    for (const line of lines)
      headers.append(line.slice(0, line.indexOf(":")), line.slice(line.indexOf(":") + 1).trim());
    const start = split + 4;
    const taken = method === "HEAD" ? { body: "", end: start } : takeBody(received, start, headers);
    if (taken === undefined) return isClosed ? null : undefined;
    received = received.subarray(taken.end);
    return { status: Number(statusLine.split(" ")[1]), headers, text: taken.body.toString() };
  }

  return {
    write: (bytes) => {
      socket.write(bytes);
    },
    async read(method = "GET") {
      const deadline = performance.now() + timeoutMs;
      for (;;) {
        const reply = takeReply(method);
        if (reply !== undefined) return reply;
        if (performance.now() > deadline) throw new Error("The server neither answered nor closed");
        const timer = Promise.withResolvers<void>();
        wake = timer.resolve;
        const limit = setTimeout(timer.resolve, 1000);
        await timer.promise;
        clearTimeout(limit);
      }
    },
    closed: ended.promise,
    end: () => {
      socket.destroy();
    },
  };
}

/** Reads a body in one piece or in chunks. Returns the body and its end, or undefined while a part is missing. */
function takeBody(bytes: Buffer, start: number, headers: Headers): { body: Buffer; end: number } | undefined {
  if (headers.get("transfer-encoding") !== "chunked") {
    const end = start + Number(headers.get("content-length") ?? 0);
    return bytes.length < end ? undefined : { body: bytes.subarray(start, end), end };
  }
  const chunks: Buffer[] = [];
  for (let at = start; ; ) {
    const line = bytes.indexOf("\r\n", at);
    const first = line + 2;
    const size = line === -1 ? Number.NaN : Number.parseInt(bytes.toString("latin1", at, line), 16);
    const end = first + size + 2;
    if (!(bytes.length >= end)) return undefined;
    if (size === 0) return { body: Buffer.concat(chunks), end };
    chunks.push(bytes.subarray(first, first + size));
    at = end;
  }
}

/**
 * Sends a request like Python's urllib, which writes the whole request before it reads. Returns all bytes until the
 * server closes the connection.
 * @throws Error if the server closes it before the request is written.
 */
export async function writeThenRead(socket: Socket, [head, body]: readonly [string, Uint8Array]): Promise<string> {
  const closed = new Promise((resolve) => socket.on("close", resolve).on("error", resolve));
  socket.pause();
  socket.write(head);
  await new Promise((resolve) => socket.write(body, resolve));
  // Bun reports no error if a connection is closed during a write.
  if (socket.bytesWritten < body.length) throw new Error("The server closed before the request was written");
  let text = "";
  socket.on("data", (chunk: Buffer) => {
    text += chunk.toString("latin1");
  });
  socket.resume();
  await closed;
  return text;
}

/** Returns a request of 20 MB without valid credentials. Its client then closes the connection. */
export function largeRefusedRequest(line: string): [string, Uint8Array] {
  const headers = { authorization: "Bearer a:b", "content-length": "20000000", connection: "close" };
  return [formatHead({ head: `${line} HTTP/1.1`, headers }), Buffer.alloc(20_000_000)];
}

/** Formats the head of a request, with `Host` and the given headers. */
export function formatHead({ head, headers = {} }: RawRequest): string {
  const lines = Object.entries({ host: "127.0.0.1", ...headers }).map(([name, value]) => `${name}: ${value}`);
  return `${head}\r\n${lines.join("\r\n")}\r\n\r\n`;
}

/** Sends a request on a new connection. */
export async function request(app: TestApp, raw: RawRequest): Promise<RawReply> {
  const connection = openConnection(app);
  try {
    connection.write(formatHead(raw));
    if (raw.body !== undefined) connection.write(raw.body);
    const reply = await connection.read(raw.head.split(" ")[0]);
    if (reply === null) throw new Error("The server closed without an answer");
    return reply;
  } finally {
    connection.end();
  }
}
