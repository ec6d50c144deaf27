import { logLevels } from "../config/operation-config.ts";
import type { Actor, Tenant } from "../context.ts";
import { AppError, codeOf } from "../errors.ts";
import { describeFault, type LogRequest, levelOf, type RequestLogEntry } from "../logging/request-log.ts";
import type { Meter, RouteMeter } from "../monitoring/metrics/meter.ts";

interface LogDeps {
  now: () => number;
  log: LogRequest;
  /** Index of the least level that is logged. */
  logFrom: number;
  meter: Meter;
  clientIpOf: (request: Request) => string | null;
}

/** What is known of an answered request; times in milliseconds of the process's clock. */
interface Answered {
  requestId: string;
  started: number;
  /** When the caller had been proved; only where the log says it. */
  provedAt?: number;
  /** What was thrown on the way; undefined for a success. */
  failure: unknown;
  namespace?: string;
  /** The store, where there is one of that name. */
  tenant?: Tenant;
  actor?: Actor;
  /** Whether it is a call of those who watch, which says nothing as long as all is well. */
  isProbe?: boolean;
}

/**
 * Counts an answer, and writes the log's line: of a request that failed also its code and from where it came, of a fault
 * its cause. What the log does not want to hear costs no more than the counting.
 */
export function logAnswer(deps: LogDeps, meter: RouteMeter, request: Request, response: Response, of: Answered): void {
  const { requestId, started, provedAt, failure, namespace, tenant, actor, isProbe } = of;
  const { status } = response;
  const ms = performance.now() - started;
  const code = failure === undefined ? undefined : failure instanceof AppError ? failure.code : codeOf("internalError");
  meter.record(status, ms, code);
  if (tenant !== undefined) deps.meter.tenants.record(tenant.namespace, code !== undefined);

  const level = isProbe && status < 400 ? "debug" : levelOf(status);
  if (logLevels.indexOf(level) < deps.logFrom) return;
  const entry: RequestLogEntry = {
    at: deps.now(),
    level,
    method: request.method,
    path: pathOf(request.url),
    status,
    ms,
    requestId,
    namespace,
    caller: actor?.kind === "app" ? actor.appId : actor?.kind === "user" ? actor.userId : undefined,
  };
  if (provedAt !== undefined) entry.provedMs = provedAt - started;
  if (code !== undefined) {
    entry.code = code;
    // Whoever is served is not written down; whoever is refused may have to be found.
    entry.ip = deps.clientIpOf(request);
    // A unavailable of our own making says all there is to say by its code.
    const isExplained = failure instanceof AppError && failure.cause === undefined;
    if (status >= 500 && !isExplained) entry.fault = describeFault(failure);
  }
  deps.log(entry);
}

function pathOf(url: string): string {
  const start = url.indexOf("/", url.indexOf("//") + 2);
  const end = url.indexOf("?", start);
  return url.slice(start, end === -1 ? undefined : end);
}
