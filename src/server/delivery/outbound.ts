import { lookup as lookupName } from "node:dns/promises";
import { once } from "node:events";
import { type IncomingMessage, request as requestPlain } from "node:http";
import { type RequestOptions, request as requestSecure } from "node:https";
import { isIP } from "node:net";
import ipaddr from "ipaddr.js";

/** How long to wait for the body of an answer. Its first chunk is read, so that the connection ends cleanly. */
const lingerMs = 500;
/** How long to wait for a connection before the next address of the name is tried. */
const connectMs = 3000;

/** The reason why a message did not arrive. Operators see the text unchanged. */
export class DeliveryFailure extends Error {}

export function describeFailure(error: unknown): string {
  if (error instanceof DeliveryFailure) return error.message;
  // A name with several addresses has an error for each. The last error is shown.
  const { code, message } = (error instanceof AggregateError ? error.errors.at(-1) : error) as NodeJS.ErrnoException;
  return `${code ?? "failed"}: ${message}`.slice(0, 300);
}

/** Whether the receiver is down. Other statuses, such as 4xx or a redirect, may concern only this message. */
export function isDown(status: number | null): boolean {
  return status === null || status >= 500 || status === 429 || status === 408;
}

/** Returns how many milliseconds a receiver with status 429 or 503 asks to wait, at most an hour; otherwise 0. */
export function readRetryAfter(answer: Pick<PostAnswer, "status" | "retryAfter">, now: number): number {
  if (answer.status !== 429 && answer.status !== 503) return 0;
  const text = answer.retryAfter?.trim() ?? "";
  const ms = /^\d+$/.test(text) ? Number(text) * 1000 : Date.parse(text) - now;
  return ms > 0 ? Math.min(ms, 3_600_000) : 0;
}

export type Lookup = (name: string) => Promise<string[]>;

/** Resolves a name with the system's resolver. IPv4 comes first, because many machines have no IPv6 route. */
const lookupAddresses: Lookup = async (name) =>
  (await lookupName(name, { all: true, order: "ipv4first" })).map(({ address }) => address);

export class RefusedAddress extends DeliveryFailure {}

export async function resolveAddresses(url: URL, allowPrivate: boolean, lookup = lookupAddresses): Promise<string[]> {
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

/** Whether a host is a public address, or a name that can have a public address. */
export function isPublicHost(host: string): boolean {
  if (ipaddr.isValid(host)) return isPublic(host);
  const labels = host.split(".");
  return labels.length > 1 && !labels.includes("") && !privateNames.test(host);
}

const globalUnicast = ipaddr.parseCIDR("2000::/3") as [ipaddr.IPv6, number];

/** Whether an address is public. IPv6 with an embedded IPv4 address (such as NAT64) is not, because it may be private. */
export function isPublic(address: string): boolean {
  if (!ipaddr.isValid(address)) return false;
  const parsed = ipaddr.parse(address);
  if (parsed.range() !== "unicast") return false;
  return parsed.kind() === "ipv4" || (parsed as ipaddr.IPv6).match(globalUnicast);
}

/** The answer to a message. `text` is the first chunk of the body; without a body, it is empty. */
export type PostAnswer = { status: number; retryAfter: string | undefined; text: Promise<string> };

export interface Post {
  url: URL;
  /** Allows addresses of this machine and of private networks. */
  allowPrivate: boolean;
  headers: Record<string, string>;
  body: string | Uint8Array;
  signal: AbortSignal;
  lookup?: Lookup | undefined;
  ca?: string | undefined;
}

/**
 * Posts a message to a checked address. Follows no redirects, and does not wait for the body.
 * @throws RefusedAddress; errors of the connection; the signal's reason.
 */
export async function postMessage({ url, allowPrivate, lookup, body, ...post }: Post): Promise<PostAnswer> {
  const addresses = await resolveAddresses(url, allowPrivate, lookup);
  const found = addresses.map((address) => ({ address, family: isIP(address) }));
  const options: RequestOptions & { autoSelectFamilyAttemptTimeout: number } = {
    ...post,
    method: "POST",
    // A reused connection could belong to another name, so each request opens a connection.
    agent: false,
    // Only the checked addresses are tried, one after another.
    lookup: (_name, _options, done) => done(null, found),
    autoSelectFamilyAttemptTimeout: connectMs,
    servername: ipaddr.isValid(hostOf(url)) ? undefined : hostOf(url),
  };
  const request = url.protocol === "https:" ? requestSecure(url, options) : requestPlain(url, options);
  request.end(body);
  const answered = once(request, "response");
  // After the answer, errors of the connection no longer matter.
  const ignore = () => {};
  request.on("error", ignore);
  const response: IncomingMessage = (await answered)[0];
  const close = () => response.destroy();
  response.on("error", ignore).setTimeout(lingerMs, close);
  const text = new Promise<string>((resolve) => {
    response.once("data", (chunk: Buffer) => resolve(chunk.toString())).once("data", close);
    response.once("close", () => resolve(""));
  });
  return { status: response.statusCode as number, retryAfter: response.headers["retry-after"], text };
}
