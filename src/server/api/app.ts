import { Elysia } from "elysia";
import { type LogLevel, logLevels } from "../config/server-config.ts";
import { methodNotAllowed, routeNotFound } from "../errors.ts";
import { successResponse } from "../http/envelope.ts";
import { type Route, reply } from "../http/route.ts";
import { createCredentialLookup, createUsageRecorder } from "../modules/app-keys/lookup.ts";
import type { RouteMeter } from "../monitoring/metrics/meter.ts";
import type { RecentRequest } from "../monitoring/process-monitor.ts";
import { MiB } from "../values/units.ts";
import { createAttemptCounter } from "./authenticate.ts";
import type { BodyLimits } from "./body.ts";
import { clientAddressReader, preflightHeaders } from "./headers.ts";
import { answerRoute, type PipelineDeps } from "./pipeline.ts";
import { ReplyCache } from "./reply-cache.ts";
import { routes as allRoutes } from "./routes.ts";
import { describeArrival, handleUnmatched, mountSystemPages, type SystemPages } from "./system-routes.ts";

export interface AppDeps
  extends Pick<
      PipelineDeps,
      "db" | "now" | "log" | "meter" | "vault" | "memory" | "push" | "media" | "publicUrl" | "payments" | "actorOf"
    >,
    Omit<SystemPages, "routes" | "onSeen"> {
  logLevel: LogLevel;
  trustedProxies: readonly string[];
  isEncrypted: boolean;
  bodyLimits?: BodyLimits;
  replyCacheBytes?: number;
  peerOf: (request: Request) => string | null;
  /** Called for each request of `/health/live` whose id begins with `doctor-`. */
  onSeen?: (seen: RecentRequest) => void;
  routes?: readonly Route[];
}

export const defaultBodyLimits: BodyLimits = { bytes: 1_048_576, ms: 10_000 };

const everyMethod = "GET, POST, PUT, PATCH, DELETE, HEAD, OPTIONS";

export function createApp(deps: AppDeps) {
  const { db, now, vault } = deps;
  const routes = deps.routes ?? allRoutes;
  const readAddress = clientAddressReader(deps.trustedProxies);
  const pipeline: PipelineDeps = {
    bodyLimits: defaultBodyLimits,
    ...deps,
    logFrom: logLevels.indexOf(deps.logLevel),
    lookup: createCredentialLookup(db),
    replies: new ReplyCache(deps.replyCacheBytes ?? 32 * MiB),
    countAttempt: createAttemptCounter(db, vault, now),
    recordUse: createUsageRecorder(db),
    bodyMemory: { left: 64 * MiB },
    streams: new Map(),
    uploadMemory: { left: 128 * MiB },
    clientIpOf: (request) => {
      const peer = deps.peerOf(request);
      return peer === null ? null : readAddress(peer, request.headers.get("x-forwarded-for"));
    },
  };
  const server = new Elysia({
    aot: true,
    normalize: false,
    strictPath: false,
    // To find the path in a URL, Elysia skips the 7 characters of `http://`. With this option, it skips 11: `https://`
    // and three characters of the host. `listen` ensures that the host is long enough.
    handler: { standardHostname: deps.isEncrypted },
  });
  const noRouteMeter = pipeline.meter.anyMethod("(none)");
  const answerNone = (request: Request) => answerNoRoute(pipeline, noRouteMeter(request.method), request);
  for (const route of routes) mountRoute(server, pipeline, route);
  for (const [path, group] of Map.groupBy(routes, (route) => route.path)) {
    const methods = group.map((route) => route.method);
    const allow = [...methods, ...(methods.includes("GET") ? ["HEAD"] : []), "OPTIONS"].join(", ");
    const meterOf = pipeline.meter.anyMethod(path);
    const answer = (request: Request) => answerOtherMethod(pipeline, meterOf(request.method), request, allow);
    server.all(path, ({ request }) => answer(request), { parse: "none" });
  }
  mountSystemPages(server, pipeline, {
    ...deps,
    routes,
    onSeen: (request) =>
      deps.onSeen?.({
        ...describeArrival(request),
        peer: deps.peerOf(request),
        client: pipeline.clientIpOf(request),
        protocol: deps.isEncrypted ? "https" : "http",
      }),
  });
  server.all("/*", ({ request }) => answerNone(request), { parse: "none" });
  server.onError(async ({ request, code, error }) =>
    code === "NOT_FOUND"
      ? answerNone(request)
      : handleUnmatched(pipeline, request, { meter: noRouteMeter(request.method) }, () => {
          throw error;
        }),
  );
  return Object.assign(server, { clientIpOf: pipeline.clientIpOf });
}

function mountRoute(server: Elysia, pipeline: PipelineDeps, route: Route): void {
  for (const method of route.method === "GET" ? ["GET", "HEAD"] : [route.method]) {
    const endpoint = { route, meter: pipeline.meter.route(method, route.path) };
    const handle = ({ request, params }: { request: Request; params: Record<string, string> }) =>
      answerRoute(pipeline, endpoint, request, params);
    server.route(method, route.path, handle as never, { parse: "none" } as never);
  }
}

function answerOtherMethod(pipeline: PipelineDeps, meter: RouteMeter, request: Request, allow: string) {
  return handleUnmatched(pipeline, request, { meter }, (headers, requestId) => {
    if (request.method !== "OPTIONS") throw methodNotAllowed(undefined, { headers: { Allow: allow } });
    preflightHeaders(headers, request.headers.get("origin"), allow);
    return successResponse(requestId, reply({ allow }), 200, headers);
  });
}

function answerNoRoute(pipeline: PipelineDeps, meter: RouteMeter, request: Request) {
  // A page can read the 404 only if its preflight succeeded, so preflights of unknown paths succeed too.
  const isPreflight = request.method === "OPTIONS" && request.headers.has("access-control-request-method");
  if (isPreflight) return answerOtherMethod(pipeline, meter, request, everyMethod);
  return handleUnmatched(pipeline, request, { meter }, () => {
    throw routeNotFound();
  });
}
