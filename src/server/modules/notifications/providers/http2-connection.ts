import { type ClientHttp2Session, type ClientHttp2Stream, connect } from "node:http2";
import { withSignal } from "../../../concurrency/with-timeout.ts";

/** Answers of push services are one line; longer ones are cut. */
const maxText = 4096;

export interface Http2Answer {
  status: number;
  retryAfter: string | undefined;
  text: string;
}

/** A connection to one origin, which stays open, and is opened again when it has ended. */
export function createHttp2Connection(origin: string, ca?: string) {
  let current: Promise<ClientHttp2Session> | undefined;
  const open = new Set<ClientHttp2Session>();

  /** Waits for the peer's SETTINGS, because Bun ignores its stream limit until then. */
  function begin(): Promise<ClientHttp2Session> {
    const session = connect(origin, ca === undefined ? {} : { ca });
    open.add(session);
    const { promise, resolve, reject } = Promise.withResolvers<ClientHttp2Session>();
    // A caller that timed out no longer awaits it.
    promise.catch(() => {});
    const leave = () => retire(promise);
    session.on("error", (error) => {
      leave();
      reject(error);
    });
    session.on("goaway", () => {
      leave();
      session.close();
    });
    session.on("close", () => {
      open.delete(session);
      leave();
      reject(new Error("the connection was closed"));
    });
    session.once("remoteSettings", () => resolve(session));
    return promise;
  }

  function retire(used: Promise<ClientHttp2Session>): void {
    if (current === used) current = undefined;
  }

  async function post(path: string, headers: Record<string, string>, body: string, signal: AbortSignal) {
    current ??= begin();
    const used = current;
    try {
      const session = await withSignal(used, signal);
      return await exchange(session.request({ ":method": "POST", ":path": path, ...headers }), body, signal);
    } catch (error) {
      // A connection that did not answer in time may be dead.
      if (signal.aborted) {
        retire(used);
        used.then(
          (session) => session.close(),
          () => {},
        );
      }
      throw error;
    }
  }

  return {
    post,
    close() {
      current = undefined;
      for (const session of open) session.destroy();
    },
  };
}

function exchange(stream: ClientHttp2Stream, body: string, signal: AbortSignal): Promise<Http2Answer> {
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
