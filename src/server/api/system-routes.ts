import type { Elysia } from "elysia";
import { AppError, methodNotAllowed, notAuthenticated, routeNotFound, unavailable } from "../errors.ts";
import { baseHeaders, errorResponse, successResponse } from "../http/envelope.ts";
import { type Route, reply } from "../http/route.ts";
import { hasToken, metricsType } from "../monitoring/listeners.ts";
import type { RouteMeter } from "../monitoring/metrics/meter.ts";
import { createReadiness, type ReadinessDeps } from "../monitoring/readiness.ts";
import { logAnswer } from "./answer-log.ts";
import { dropBody } from "./body.ts";
import { describeApi } from "./description/openapi.ts";
import { allowOrigin, requestIdOf } from "./headers.ts";
import { answerBackOffice } from "./pages/back-office.ts";
import { type Answer, answerHome, clientFiles, fixedPage, referencePages, script } from "./pages/pages.ts";
import type { PipelineDeps } from "./pipeline.ts";

export interface SystemPages extends Pick<ReadinessDeps, "isDraining" | "freeBytes"> {
  routes: readonly Route[];
  version: string;
  hasDocs: boolean;
  hasBackOffice?: boolean;
  /** Undefined if no token is configured: then `/metrics` replies routeNotFound. */
  metrics?: { token: string; text: () => Promise<string> } | undefined;
  onSeen?: ((request: Request) => void) | undefined;
}

const json = "application/json; charset=utf-8";
const text = "text/plain; charset=utf-8";
const anyOrigin = { "Access-Control-Allow-Origin": "*" };

export function mountSystemPages(server: Elysia, pipeline: PipelineDeps, deps: SystemPages): void {
  const { routes, version, hasDocs, metrics, onSeen } = deps;
  const findUnready = createReadiness({ ...deps, db: pipeline.db });
  mountPage(server, pipeline, "/health/live", (request) => {
    if (onSeen && request.headers.get("x-request-id")?.startsWith("doctor-")) onSeen(request);
    return answerReady();
  });
  mountPage(server, pipeline, "/health/ready", async () => (await findUnready()) ?? answerReady(pipeline.db.warning));
  const describe = () => JSON.stringify(describeApi(routes, version));
  mountPage(server, pipeline, "/openapi.json", fixedPage(json, describe, anyOrigin));
  for (const [path, read] of Object.entries(clientFiles)) {
    mountPage(server, pipeline, path, fixedPage(path.endsWith(".js") ? script : text, read, anyOrigin));
  }
  mountPage(server, pipeline, "/", async (request) => answerHome(request, version, hasDocs, !(await findUnready())));
  for (const [path, answer] of Object.entries(hasDocs ? referencePages : {})) mountPage(server, pipeline, path, answer);
  // Elysia uses the first of these routes also for `/back-office/`.
  for (const path of deps.hasBackOffice ? ["/back-office", "/back-office/*"] : [])
    mountPage(server, pipeline, path, answerBackOffice);
  mountPage(server, pipeline, "/metrics", async (request) => {
    if (metrics === undefined) return routeNotFound();
    if (!hasToken(request, metrics.token)) {
      return notAuthenticated("The token is missing or wrong.", {
        remedy: "Send Authorization: Bearer with the value of BODEGA_METRICS_TOKEN.",
        headers: { "WWW-Authenticate": "Bearer" },
      });
    }
    const text = await metrics.text().catch((error: unknown) => unavailable(undefined, { cause: error }));
    if (text instanceof AppError) return text;
    return (headers) => new Response(text, { headers: { ...headers, "Content-Type": metricsType } });
  });
}

function mountPage(
  server: Elysia,
  pipeline: PipelineDeps,
  path: string,
  decide: (request: Request) => Promise<Answer | AppError> | Answer | AppError,
): void {
  const meterOf = pipeline.meter.anyMethod(path);
  const isProbe = path.startsWith("/health/") || path === "/metrics";
  const answer = async ({ request }: { request: Request }) => {
    const isRead = request.method === "GET" || request.method === "HEAD";
    const decided = isRead ? await decide(request) : methodNotAllowed(undefined, { headers: { Allow: "GET, HEAD" } });
    return handleUnmatched(pipeline, request, { meter: meterOf(request.method), isProbe }, (headers, requestId) => {
      if (decided instanceof AppError) throw decided;
      return decided(headers, requestId);
    });
  };
  server.all(path, answer, { parse: "none" });
}

const forwardedHeaders = /^(?:forwarded|via|x-forwarded-(?:for|host|port|proto)|x-real-ip)$/;

export function describeArrival(request: Request) {
  const headers = [...request.headers].map(([name, value]) => [name, value.slice(0, 500)] as const);
  const { host = null, "x-request-id": request_id = "" } = Object.fromEntries(headers);
  const forwarded = Object.fromEntries(headers.filter(([name]) => forwardedHeaders.test(name)));
  return { request_id, at: new Date().toISOString(), host, forwarded };
}

function answerReady(warning?: string): Answer {
  const data = { status: "ok", ...(warning && { warning }) };
  return (headers, requestId) => successResponse(requestId, reply(data), 200, headers);
}

/** Answers a request without a route of the API: with an error, the methods of a path, or a page. */
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
