/** Headers that scripts of other origins may read. */
const exposed = "X-Request-Id, Retry-After, ETag, Content-Language, Idempotency-Replayed";
const allowedHeaders = "Authorization, Content-Type, If-Match, Idempotency-Key, X-Request-Id";

/** Lets the page at `origin` read the reply. */
export function allowOrigin(headers: Record<string, string>, origin: string): void {
  headers["Access-Control-Allow-Origin"] = origin;
  headers["Access-Control-Expose-Headers"] = exposed;
  headers.Vary = "Origin";
}

/**
 * Headers of the answer to a preflight. It does not know the key, so it allows every origin; the request itself is
 * checked against the key's allowlist.
 */
export function preflightHeaders(headers: Record<string, string>, origin: string | null, methods: string): void {
  headers.Allow = methods;
  if (origin === null) return;
  allowOrigin(headers, origin);
  headers["Access-Control-Allow-Methods"] = methods;
  headers["Access-Control-Allow-Headers"] = allowedHeaders;
  headers["Access-Control-Max-Age"] = "600";
}
