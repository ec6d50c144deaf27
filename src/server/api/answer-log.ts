import { logLevels } from "../config/server-config.ts";
import type { Actor, Tenant } from "../context.ts";
import { AppError, codeOf } from "../errors.ts";
import { describeFault, levelOf, type RequestLogEntry } from "../logging/request-log.ts";
import type { Meter, RouteMeter } from "../monitoring/metrics/meter.ts";

export interface LogDeps {
  now: () => number;
  log: (entry: RequestLogEntry) => void;
  logFrom: number;
  meter: Meter;
  clientIpOf: (request: Request) => string | null;
}

interface Answered {
  request: Request;
  response: Response;
  meter: RouteMeter;
  requestId: string;
  started: number;
  failure: unknown;
  namespace?: string | undefined;
  tenant?: Tenant | undefined;
  actor?: Actor | undefined;
  /** Whether the request is a health check, which is logged only if it fails. */
  isProbe?: boolean | undefined;
}

export function logAnswer(deps: LogDeps, answered: Answered): void {
  const { request, meter, requestId, started, failure, namespace, tenant, actor, isProbe } = answered;
  const { status } = answered.response;
  const ms = performance.now() - started;
  const code = failure === undefined ? undefined : codeOfFailure(failure);
  meter.record(status, ms, code);
  if (tenant !== undefined) deps.meter.recordTenant(tenant.namespace, code !== undefined);

  const level = isProbe && status < 400 ? "debug" : levelOf(status);
  if (logLevels.indexOf(level) < deps.logFrom) return;
  deps.log({
    at: deps.now(),
    level,
    method: request.method,
    path: pathOf(request.url),
    status,
    code,
    ms,
    request_id: requestId,
    namespace,
    caller: idOf(actor),
    // The log contains the addresses of refused callers only, because an operator may have to find these callers.
    ip: code === undefined ? undefined : deps.clientIpOf(request),
    origin: code === codeOf("appAuthFailed") ? (request.headers.get("origin") ?? undefined) : undefined,
    fault: isExplained(failure, status) ? undefined : describeFault(failure),
  });
}

function codeOfFailure(failure: unknown) {
  return failure instanceof AppError ? failure.code : codeOf("internalError");
}

function idOf(actor: Actor | undefined): string | undefined {
  if (actor?.kind === "app") return actor.appId;
  return actor?.kind === "user" ? actor.userId : undefined;
}

/** Whether the code explains the failure. It does not if a malformed password hash is the cause of invalidLogin. */
function isExplained(failure: unknown, status: number): boolean {
  if (!(failure instanceof AppError)) return status < 500;
  return (status < 500 && failure.kind !== "invalidLogin") || !(failure.cause instanceof Error);
}

function pathOf(url: string): string {
  const start = url.indexOf("/", url.indexOf("//") + 2);
  const end = url.indexOf("?", start);
  return url.slice(start, end === -1 ? undefined : end);
}
