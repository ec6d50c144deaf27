import type { ProcessMemory, Tenant } from "../context.ts";
import { AppError, type ErrorKind } from "../errors.ts";
import { allowsAnonymous, ignoresCredentials } from "../http/access.ts";
import type { Route } from "../http/route.ts";
import { KiB } from "../values/bytes.ts";
import type { BodyLimits } from "./body.ts";

const maxBytes = 64 * KiB;

export const publicLimits = ({ bytes, ms }: BodyLimits): BodyLimits => ({ bytes: Math.min(bytes, maxBytes), ms });

/** Calls of `/auth/` are counted as attempts instead. */
const isPublicWrite = ({ access, method }: Route) =>
  method !== "GET" && allowsAnonymous(access) && !ignoresCredentials(access);

/** Whether a server calls a route for its visitors, and may name their addresses. */
export const actsForVisitors = (route: Route): boolean =>
  isPublicWrite(route) || route.access.some((method) => method.kind === "app" && method.scope === "customers:sign-up");

/** These refusals come before the service counts a write. Some notFound come later and count twice. */
const uncounted: ReadonlySet<ErrorKind> = new Set([
  "malformedRequest",
  "validationFailed",
  "unsupportedMediaType",
  "bodyTooLarge",
  "notFound",
] as const);

/** Counts a refused public write for its address. Returns its error, or that of the limit once it is reached. */
export async function countRefusal(
  { memory, clientIpOf }: { memory: Pick<ProcessMemory, "writes">; clientIpOf: (request: Request) => string | null },
  { request, route }: { request: Request; route: Route },
  tenant: Tenant,
  failure: unknown,
): Promise<unknown> {
  if (!(failure instanceof AppError && uncounted.has(failure.kind) && isPublicWrite(route))) return failure;
  try {
    await memory.writes.count(tenant, clientIpOf(request), null);
    return failure;
  } catch (error) {
    return error;
  }
}
