import { lookup as lookupName } from "node:dns/promises";
import { request as requestPlain } from "node:http";
import { request as requestSecure } from "node:https";
import ipaddr from "ipaddr.js";

/** How long to wait for a body. One piece is read, so that the connection ends cleanly after a short answer. */
const lingerMs = 500;
/** With these errors nothing was sent, so the next address of the name is tried. */
const unreached = new Set(["ECONNREFUSED", "ENETUNREACH", "EHOSTUNREACH", "EADDRNOTAVAIL", "ENETDOWN"]);

/** The reason why a message did not arrive; operators see its text unchanged. */
export class DeliveryFailure extends Error {}

export function describeFailure(error: unknown): string {
  if (error instanceof DeliveryFailure) return error.message;
  const { code, message } = error as NodeJS.ErrnoException;
  return `${code ?? "failed"}: ${message}`.slice(0, 300);
}

/** Whether the receiver is down. A refusal (4xx, a redirect) may concern one message only. */
export function isDown(status: number | null): boolean {
  return status === null || status >= 500 || status === 429 || status === 408;
}

/** Milliseconds that a receiver asks to wait with status 429 or 503: 0 to an hour. @param now epoch milliseconds. */
export function readRetryAfter(answer: { status: number; retryAfter: string | undefined }, now: number): number {
  if (answer.status !== 429 && answer.status !== 503) return 0;
  const text = answer.retryAfter?.trim() ?? "";
  const ms = /^\d+$/.test(text) ? Number(text) * 1000 : Date.parse(text) - now;
  return ms > 0 ? Math.min(ms, 3_600_000) : 0;
}

export type Lookup = (name: string) => Promise<string[]>;

/** Resolves names as the machine does. IPv4 comes first, because many machines have no IPv6 route. */
export const lookupAddresses: Lookup = async (name) =>
  (await lookupName(name, { all: true, order: "ipv4first" })).map(({ address }) => address);

export class RefusedAddress extends DeliveryFailure {}

export async function resolveAddresses(url: URL, allowPrivate: boolean, lookup: Lookup): Promise<string[]> {
  const host = hostOf(url);
  const addresses = ipaddr.isValid(host) ? [host] : await lookup(host);
  const refused = allowPrivate ? undefined : addresses.find((address) => !isPublic(address));
  if (refused !== undefined) {
    const which = refused === host ? host : `${host} has ${refused}, which`;
    throw new RefusedAddress(`${which} is not a public address`);
  }
  return addresses;
}

export function hostOf({ hostname }: URL): string {
  return hostname.replace(/^\[(.*)\]$/, "$1").replace(/\.$/, "");
}

const privateNames =
  /(?:^|\.)(?:localhost|localdomain|local|internal|intranet|private|corp|home|lan|home\.arpa|onion)$/i;

/** Whether a host is a public address or a name that can have one. */
export function isPublicHost(host: string): boolean {
  if (ipaddr.isValid(host)) return isPublic(host);
  const labels = host.split(".");
  return labels.length > 1 && !labels.includes("") && !privateNames.test(host);
}

const globalUnicast = ipaddr.parseCIDR("2000::/3") as [ipaddr.IPv6, number];

/** Whether an address is public. One that embeds IPv4 (mapped, 6to4, NAT64, Teredo) is not: that may be private. */
export function isPublic(address: string): boolean {
  if (!ipaddr.isValid(address)) return false;
  const parsed = ipaddr.parse(address);
  if (parsed.range() !== "unicast") return false;
  return parsed.kind() === "ipv4" || (parsed as ipaddr.IPv6).match(globalUnicast);
}

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
