import { request as requestPlain } from "node:http";
import { request as requestSecure } from "node:https";
import ipaddr from "ipaddr.js";
import { hostOf } from "./address.ts";

/** How long to wait for a body. One piece is read, so that the connection ends cleanly after a short answer. */
const lingerMs = 500;
/** With these errors nothing was sent, so the next address of the name is tried. */
const unreached = new Set(["ECONNREFUSED", "ENETUNREACH", "EHOSTUNREACH", "EADDRNOTAVAIL", "ENETDOWN"]);

export interface Post {
  url: URL;
  /** The checked addresses; the connection goes to one of these. */
  addresses: readonly string[];
  headers: Record<string, string>;
  body: string | Uint8Array;
  signal: AbortSignal;
  ca?: string | undefined;
}

export interface PostAnswer {
  status: number;
  retryAfter: string | undefined;
}

/** Posts a message, without following redirects or waiting for the body. Errors: the connection's, or the signal's reason. */
export async function postMessage(post: Post): Promise<PostAnswer> {
  let failure: unknown = new Error("the name has no address");
  for (const address of post.addresses) {
    try {
      return await postTo(address, post);
    } catch (error) {
      failure = error;
      if (post.signal.aborted || !unreached.has((error as NodeJS.ErrnoException).code ?? "")) break;
    }
  }
  throw failure;
}

function postTo(address: string, { url, headers, body, signal, ca }: Post): Promise<PostAnswer> {
  const name = hostOf(url);
  const isSecure = url.protocol === "https:";
  const { promise, resolve, reject } = Promise.withResolvers<PostAnswer>();
  const options = {
    method: "POST",
    host: address,
    port: url.port === "" ? (isSecure ? 443 : 80) : Number(url.port),
    path: `${url.pathname}${url.search}`,
    headers: { ...headers, Host: url.host, "Content-Length": String(Buffer.byteLength(body)) },
    // A reused connection could belong to another name.
    agent: false as const,
    signal,
  };
  const request = isSecure
    ? requestSecure({ ...options, ...(!ipaddr.isValid(name) && { servername: name }), ...(ca !== undefined && { ca }) })
    : requestPlain(options);
  request.on("error", reject);
  request.on("response", (response) => {
    resolve({ status: response.statusCode as number, retryAfter: response.headers["retry-after"] });
    // Errors of the body do not change the answer.
    response.on("error", () => {});
    const close = () => response.destroy();
    const closing = setTimeout(close, lingerMs);
    response.once("data", close);
    response.once("close", () => clearTimeout(closing));
  });
  request.end(body);
  return promise;
}
