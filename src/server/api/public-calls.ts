import type { ProcessMemory, Tenant } from "../context.ts";
import { AppError, type ErrorKind } from "../errors.ts";
import { allowsAnonymous, ignoresCredentials, type Route } from "../http/route.ts";
import { KiB } from "../values/units.ts";
import type { BodyLimits } from "./body.ts";

const publicBytes = 64 * KiB;

/** Whether calls count as public writes. Calls of `/auth/` count as attempts instead. */
const isPublicWrite = ({ method, access }: Route) =>
  method !== "GET" && allowsAnonymous(access) && !ignoresCredentials(access);

/** Whether a shop's server may call the route for a visitor and send the visitor's address, as it may for `/auth/`. */
export function actsForVisitors(route: Route): boolean {
  return isPublicWrite(route) || route.access.some((one) => one.kind === "app" && one.scope === "customers:sign-up");
}

export function bodyLimitsOf(route: Route, { bytes, ms }: BodyLimits): BodyLimits {
  const isPublic = allowsAnonymous(route.access) || actsForVisitors(route);
  return { bytes: isPublic ? Math.min(bytes, publicBytes) : bytes, ms };
}

/** Errors that usually occur before a service counts the write. A later notFound makes the write count twice. */
const uncounted: ReadonlySet<ErrorKind> = new Set([
  "malformedRequest",
  "validationFailed",
  "unsupportedMediaType",
  "bodyTooLarge",
  "notFound",
] as const);

/** Counts a refused public write of an address. Returns the refusal's error, or tooManyRequests at the limit. */
export async function countRefusal(
  { memory, clientIpOf }: { memory: Pick<ProcessMemory, "writes">; clientIpOf: (request: Request) => string | null },
  { request, route }: { request: Request; route: Route },
  tenant: Tenant,
  failure: unknown,
): Promise<unknown> {
  if (!(failure instanceof AppError && uncounted.has(failure.kind) && isPublicWrite(route))) return failure;
  try {
    memory.writes.count(tenant, clientIpOf(request), null);
    return failure;
  } catch (error) {
    return error;
  }
}
