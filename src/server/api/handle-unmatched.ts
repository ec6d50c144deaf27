import { baseHeaders, errorResponse } from "../http/envelope.ts";
import type { RouteMeter } from "../monitoring/metrics/meter.ts";
import { logAnswer } from "./answer-log.ts";
import { dropBody } from "./body.ts";
import { allowOrigin, requestIdOf } from "./headers.ts";
import type { PipelineDeps } from "./pipeline.ts";

/** Answers requests without a route: routeNotFound, methodNotAllowed, OPTIONS, or a page outside the API. */
export async function handleUnmatched(
  deps: PipelineDeps,
  request: Request,
  { meter, isProbe }: { meter: RouteMeter; isProbe?: boolean },
  decide: (headers: Record<string, string>, requestId: string) => Response,
): Promise<Response> {
  const started = performance.now();
  const requestId = requestIdOf(request.headers);
  const headers = baseHeaders(requestId);
  const origin = request.headers.get("origin");
  let response: Response;
  let failure: unknown;
  try {
    if (origin !== null) allowOrigin(headers, origin);
    response = decide(headers, requestId);
  } catch (error) {
    failure = error;
    if (!(await dropBody(request, deps.bodyLimits))) headers.Connection = "close";
    response = errorResponse(requestId, error, headers);
  }
  logAnswer(deps, { request, response, meter, requestId, started, failure, isProbe });
  return response;
}
