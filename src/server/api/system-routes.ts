import type { Elysia } from "elysia";
import { AppError, methodNotAllowed, notAuthenticated, unavailable } from "../errors.ts";
import type { Route } from "../http/route.ts";
import { hasToken, metricsType } from "../monitoring/metrics/http.ts";
import { createReadiness } from "../monitoring/readiness.ts";
import type { RecentRequest } from "../monitoring/server-status.ts";
import { describeApi } from "./openapi.ts";
import { answerElsewhere, type PipelineDeps } from "./pipeline.ts";

interface SystemPages {
  routes: readonly Route[];
  isDraining: () => boolean;
  freeBytes: () => number | null;
  version: string;
  /** `/metrics` for requests with this token; without it there is no such route. */
  metrics?: { token: string; text: () => Promise<string> } | undefined;
  /** Called for a request of `/health/live` that checks the way to the server. */
  onSeen?: ((request: Request) => void) | undefined;
}

type Page = (request: Request) => Promise<Response> | Response;

/** Prefix of the request ids that `bodega doctor` sends when it checks the way to the server. */
export const probePrefix = "doctor-";

/**
 * The pages beside the API, which need no namespace: the health checks, the API description, and the metrics for
 * Prometheus.
 */
export function mountSystemPages(server: Elysia, pipeline: PipelineDeps, deps: SystemPages): void {
  const { routes, version, metrics, onSeen } = deps;
  const findUnready = createReadiness({ ...deps, db: pipeline.db });
  let description: string | undefined;
  const pages: Record<string, Page> = {
    "/health/live": (request) => {
      if (onSeen && request.headers.get("x-request-id")?.startsWith(probePrefix)) onSeen(request);
      return probe(request, "/health/live", data({ status: "ok" }));
    },
    "/health/ready": async (request) => {
      const fault = await findUnready();
      return probe(request, "/health/ready", (headers, requestId) => {
        if (fault) throw fault;
        return data({ status: "ok" })(headers, requestId);
      });
    },
    "/openapi.json": (request) =>
      answerElsewhere(pipeline, request, { meter: meterOf("/openapi.json", request) }, (headers) => {
        description ??= JSON.stringify(describeApi(routes, version));
        headers["Access-Control-Allow-Origin"] = "*";
        return new Response(description, { headers });
      }),
  };
  if (metrics !== undefined) {
    pages["/metrics"] = async (request) => {
      const text = hasToken(request, metrics.token)
        ? await metrics.text().catch((error: unknown) => unavailable(undefined, { cause: error }))
        : notAuthenticated("The token is missing or wrong.", {
            remedy: "Send Authorization: Bearer with the value of BODEGA_METRICS_TOKEN.",
            headers: { "WWW-Authenticate": "Bearer" },
          });
      return probe(request, "/metrics", (headers) => {
        if (text instanceof AppError) throw text;
        return new Response(text, { headers: { ...headers, "Content-Type": metricsType } });
      });
    };
  }

  const meters = new Map(Object.keys(pages).map((path) => [path, pipeline.meter.anyMethod(path)]));

  function meterOf(path: string, request: Request) {
    return (meters.get(path) ?? pipeline.meter.anyMethod(path))(request.method);
  }

  function probe(request: Request, path: string, decide: Parameters<typeof answerElsewhere>[3]): Response {
    return answerElsewhere(pipeline, request, { meter: meterOf(path, request), isProbe: true }, decide);
  }

  for (const [path, answer] of Object.entries(pages)) {
    server.all(
      path,
      ({ request }) => {
        if (request.method === "GET" || request.method === "HEAD") return answer(request);
        return answerElsewhere(pipeline, request, { meter: meterOf(path, request) }, () => {
          throw methodNotAllowed(undefined, { headers: { Allow: "GET, HEAD" } });
        });
      },
      { parse: "none" },
    );
  }
}

/** How a request arrived. */
export function describeArrival(request: Request): Pick<RecentRequest, "request_id" | "at" | "host" | "forwarded"> {
  const forwarded: Record<string, string> = {};
  for (const name of forwardedHeaders) {
    const value = request.headers.get(name);
    if (value !== null) forwarded[name] = value.slice(0, maxHeader);
  }
  return {
    request_id: request.headers.get("x-request-id")?.slice(0, maxHeader) ?? "",
    at: new Date().toISOString(),
    host: request.headers.get("host")?.slice(0, maxHeader) ?? null,
    forwarded,
  };
}

const maxHeader = 500;
const forwardedHeaders = [
  "forwarded",
  "via",
  "x-forwarded-for",
  "x-forwarded-host",
  "x-forwarded-port",
  "x-forwarded-proto",
  "x-real-ip",
];

function data(value: unknown): (headers: Record<string, string>, requestId: string) => Response {
  return (headers, requestId) => new Response(JSON.stringify({ request_id: requestId, data: value }), { headers });
}
