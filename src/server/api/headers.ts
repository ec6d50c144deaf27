import ipaddr from "ipaddr.js";
import type { Ctx } from "../context.ts";
import { rangeMatcher } from "../values/ip-prefix.ts";
import { holdsSecret } from "../values/mask-secrets.ts";

const acceptable = /^[A-Za-z0-9._-]{8,128}$/;

/** Uses the caller's `X-Request-Id` if it is 8 to 128 safe characters, else a new UUIDv7 (specification, section 2). */
export function requestIdOf(headers: Headers): string {
  const given = headers.get("x-request-id");
  if (given === null || !acceptable.test(given) || holdsSecret(given)) return Bun.randomUUIDv7();
  return given;
}

/** Behind trusted proxies, the client is the right-most untrusted hop, because hops further left can be forged. */
export function clientAddressReader(trusted: readonly string[]): (peer: string, forwarded: string | null) => string {
  const isTrusted = rangeMatcher(trusted);
  return (peer, forwarded) => {
    if (!ipaddr.isValid(peer)) return peer;
    let nearest = ipaddr.process(peer);
    if (trusted.length === 0 || forwarded === null) return nearest.toString();
    for (const hop of forwarded.split(",").reverse()) {
      if (!isTrusted(nearest)) break;
      const text = withoutPort(hop.trim());
      if (!ipaddr.isValid(text)) break;
      nearest = ipaddr.process(text);
    }
    return nearest.toString();
  };
}

/** Some proxies add the port: `203.0.113.7:4711`, `[2001:db8::1]:443`. */
function withoutPort(hop: string): string {
  return /^\[([^\]]+)\](?::\d+)?$/.exec(hop)?.[1] ?? /^([\d.]+):\d+$/.exec(hop)?.[1] ?? hop;
}

/** Reads the client's address only when a service asks for it, because this takes as long as reading a record. */
export class RequestClient implements NonNullable<Ctx["client"]> {
  readonly #ipOf: (request: Request) => string | null;
  readonly #request: Request;
  #ip: string | null | undefined;

  constructor(ipOf: (request: Request) => string | null, request: Request) {
    this.#ipOf = ipOf;
    this.#request = request;
  }

  get ip() {
    this.#ip ??= this.#ipOf(this.#request);
    return this.#ip;
  }

  get userAgent() {
    return this.#request.headers.get("user-agent");
  }
}

const exposed = "X-Request-Id, Retry-After, ETag, Content-Language, Idempotency-Replayed";
// `*` allows all headers but Authorization. The names are for browsers before 2022, which do not know `*`.
const allowedHeaders =
  "Authorization, Content-Type, If-Match, If-None-Match, Idempotency-Key, X-Order-Token, X-Request-Id, Cache-Control, Pragma, " +
  "X-Requested-With, traceparent, tracestate, baggage, sentry-trace, *";

export function allowOrigin(headers: Record<string, string>, origin: string): void {
  headers["Access-Control-Allow-Origin"] = origin;
  headers["Access-Control-Expose-Headers"] = exposed;
  headers.Vary = "Origin";
}

/** A preflight names no key, so any origin is allowed. The actual request is checked. */
export function preflightHeaders(headers: Record<string, string>, origin: string | null, methods: string): void {
  headers.Allow = methods;
  if (origin === null) return;
  allowOrigin(headers, origin);
  headers["Access-Control-Allow-Methods"] = methods;
  headers["Access-Control-Allow-Headers"] = allowedHeaders;
  headers["Access-Control-Max-Age"] = "86400";
}
