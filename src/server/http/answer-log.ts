import type { Actor } from "../context.ts";
import { AppError } from "../errors.ts";
import { describeFault, type LogRequest, type RequestLogEntry } from "./request-log.ts";

interface LogDeps {
  now: () => number;
  log: LogRequest;
  clientIpOf: (request: Request) => string | null;
}

/** What is known of an answered request; `started` in milliseconds of the process's clock. */
interface Answered {
  requestId: string;
  started: number;
  /** What was thrown on the way; undefined for a success. */
  failure: unknown;
  namespace?: string;
  actor?: Actor;
}

/** Writes the log's line of a request: of one that failed also its code and from where it came, of a fault its cause. */
export function logAnswer(deps: LogDeps, request: Request, response: Response, of: Answered): void {
  const { requestId, started, failure, namespace, actor } = of;
  const entry: RequestLogEntry = {
    at: deps.now(),
    method: request.method,
    path: pathOf(request.url),
    status: response.status,
    ms: performance.now() - started,
    requestId,
    namespace,
    caller: actor?.kind === "app" ? actor.appId : actor?.kind === "user" ? actor.userId : undefined,
  };
  if (failure !== undefined) {
    entry.code = failure instanceof AppError ? failure.code : 5000;
    // Whoever is served is not written down; whoever is refused may have to be found.
    entry.ip = deps.clientIpOf(request);
    // A 5001 of our own making says all there is to say by its code.
    const isExplained = failure instanceof AppError && failure.cause === undefined;
    if (response.status >= 500 && !isExplained) entry.fault = describeFault(failure);
  }
  deps.log(entry);
}

function pathOf(url: string): string {
  const start = url.indexOf("/", url.indexOf("//") + 2);
  const end = url.indexOf("?", start);
  return url.slice(start, end === -1 ? undefined : end);
}
