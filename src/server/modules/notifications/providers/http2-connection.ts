import { once } from "node:events";
import { type ClientHttp2Session, type ClientHttp2Stream, connect } from "node:http2";
import { withSignal } from "../../../concurrency/with-timeout.ts";

/** Replies of push services are one line; longer ones are cut. */
const maxText = 4096;

export interface Http2Answer {
  status: number;
  retryAfter: string | undefined;
  text: string;
}

export function createHttp2Connection(origin: string, ca?: string) {
  let current: { session: ClientHttp2Session; ready: Promise<unknown> } | undefined;

  function connectOnce() {
    if (current && !current.session.closed && !current.session.destroyed) return current;
    const session = connect(origin, ca === undefined ? {} : { ca });
    // Bun ignores the stream limit of the server until its SETTINGS have arrived.
    const ready = once(session, "remoteSettings");
    // Each waiting call gets the error.
    ready.catch(() => {});
    session.on("error", () => {});
    session.on("goaway", () => session.close());
    current = { session, ready };
    return current;
  }

  async function post(path: string, headers: Record<string, string>, body: string, signal: AbortSignal) {
    const { session, ready } = connectOnce();
    try {
      await withSignal(ready, signal);
      return await request(session.request({ ":method": "POST", ":path": path, ...headers }), body, signal);
    } catch (error) {
      // A connection without an answer in time may be dead.
      if (signal.aborted) session.close();
      throw error;
    }
  }

  return { post, close: () => current?.session.destroy() };
}

function request(stream: ClientHttp2Stream, body: string, signal: AbortSignal): Promise<Http2Answer> {
  const { promise, resolve, reject } = Promise.withResolvers<Http2Answer>();
  const abort = () => {
    stream.close();
    reject(signal.reason);
  };
  signal.addEventListener("abort", abort, { once: true });
  let status = 0;
  let retryAfter: string | undefined;
  let text = "";
  stream.setEncoding("utf8");
  stream.on("response", (headers) => {
    status = Number(headers[":status"]);
    retryAfter = headers["retry-after"];
  });
  stream.on("data", (chunk: string) => {
    if (text.length < maxText) text += chunk;
  });
  stream.on("error", reject);
  stream.on("end", () => {
    if (status > 0) resolve({ status, retryAfter, text });
  });
  stream.on("close", () => {
    signal.removeEventListener("abort", abort);
    reject(new Error("the connection ended before the answer"));
  });
  stream.end(body);
  return promise;
}
