import { holdsSecret } from "../values/mask-secrets.ts";

const acceptable = /^[A-Za-z0-9._-]{8,128}$/;

/**
 * The id of a request in reply and log: the caller's `X-Request-Id` if it is 8 to 128 safe characters, else a new
 * UUIDv7 (specification, section 2).
 */
export function requestIdOf(headers: Headers): string {
  const given = headers.get("x-request-id");
  if (given === null || !acceptable.test(given) || holdsSecret(given)) return Bun.randomUUIDv7();
  return given;
}
