import type { PushSettings } from "../config/push-settings.ts";
import type { Actor, Ctx, ProcessMemory, Tenant } from "../context.ts";
import { isForeignKeyViolation } from "../db/db-errors.ts";
import type { Database } from "../db/session.ts";
import { namespaceMissing, storeNotFound } from "../errors.ts";
import { asksOwnToken, isOpen, isUnsigned } from "../http/access.ts";
import { baseHeaders, errorResponse, successResponse } from "../http/envelope.ts";
import type { Call, Route } from "../http/route.ts";
import type { LogRequest } from "../logging/request-log.ts";
import { type CredentialLookup, hasTenant } from "../modules/app-keys/lookup.ts";
import { parseLanguage } from "../modules/tenants/language.ts";
import type { Meter, RouteMeter } from "../monitoring/metrics/meter.ts";
import type { Vault } from "../security/vault.ts";
import { logAnswer } from "./answer-log.ts";
import { type AuthDeps, authenticate, permit } from "./authenticate.ts";
import { type BodyLimits, type BodyMemory, isUnbounded, readBody } from "./body.ts";
import { checkBody, checkParams, checkQuery } from "./check-input.ts";
import { allowOrigin } from "./cors.ts";
import { isAppAuthorization, readAppCredentials, takeCommon } from "./credentials.ts";
import { answerIdempotently, successStatus } from "./idempotency.ts";
import { answerFirstMatch, parseIfMatch } from "./if-match.ts";
import { parseQuery, type Query } from "./query.ts";
import { requestIdOf } from "./request-id.ts";

/** What answering requests needs. */
export interface PipelineDeps extends AuthDeps {
  db: Database;
  lookup: CredentialLookup;
  bodyLimits: BodyLimits;
  bodyMemory: BodyMemory;
  clientIpOf: (request: Request) => string | null;
  log: LogRequest;
  /** Index of the least level that is logged. */
  logFrom: number;
  meter: Meter;
  vault: Vault;
  memory: ProcessMemory;
  push: PushSettings;
}

/** What is learned of a request on its way, for CORS and the log. */
interface Progress {
  namespace?: string;
  /** The store, once it is known to exist. */
  tenant?: Tenant;
  actor?: Actor;
  /** When the caller had been proved, for a log that says so. */
  provedAt?: number;
  sentApp: boolean;
  /** The body has been read, or what of it there is to read. */
  hasRead?: boolean;
  /** Part of the body may still be on its way, and would be taken for the next request. */
  mustClose?: boolean;
}

/**
 * Answers one request of a route. The checks run in the order of the specification's conventions: namespace, tenant,
 * limit on `/auth/`, credentials, permission, input, work; whatever is thrown on the way becomes the envelope.
 */
export async function answerRoute(
  deps: PipelineDeps,
  route: Route,
  meter: RouteMeter,
  request: Request,
  params: Record<string, string>,
): Promise<Response> {
  const started = performance.now();
  const requestId = requestIdOf(request.headers);
  const headers = baseHeaders(requestId);
  const progress: Progress = { sentApp: false };
  const origin = request.headers.get("origin");
  deps.meter.inFlight++;
  let response: Response;
  let failure: unknown;
  try {
    const answer = await work(deps, route, request, params, requestId, origin, progress);
    if (origin !== null) allowOrigin(headers, origin);
    response = successResponse(requestId, answer, successStatus(route, answer), headers);
  } catch (thrown) {
    const error = isForeignKeyViolation(thrown) && (await isGone(deps, progress)) ? storeNotFound() : thrown;
    failure = error ?? new Error("nothing was thrown");
    // A page may read why it was refused, unless a key was used from it that has not allowed it.
    if (origin !== null && (!progress.sentApp || progress.actor)) allowOrigin(headers, origin);
    if (progress.mustClose || (!progress.hasRead && isUnbounded(request, deps.bodyLimits)))
      headers.Connection = "close";
    response = errorResponse(requestId, error, headers);
  }
  deps.meter.inFlight--;
  logAnswer(deps, meter, request, response, { requestId, started, failure, ...progress });
  return response;
}

/** Answers a request that no route takes: routeNotFound, methodNotAllowed, or an OPTIONS; and the pages beside the API. */
export function answerElsewhere(
  deps: PipelineDeps,
  meter: RouteMeter,
  request: Request,
  decide: (headers: Record<string, string>, requestId: string) => Response,
  isProbe = false,
): Response {
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
    if (isUnbounded(request, deps.bodyLimits)) headers.Connection = "close";
    response = errorResponse(requestId, error, headers);
  }
  logAnswer(deps, meter, request, response, { requestId, started, failure, isProbe });
  return response;
}

async function work(
  deps: PipelineDeps,
  route: Route,
  request: Request,
  params: Record<string, string>,
  requestId: string,
  origin: string | null,
  progress: Progress,
) {
  const query = parseQuery(request.url);
  const authorization = request.headers.get("authorization");
  // A body is read before its sender is known only where it may say who that is.
  const early = mayNameCaller(route, query, authorization) ? await readInto(deps, request, progress) : undefined;
  // User credentials stand in the query. The body may hold them where the call is about the token itself; and where
  // nobody needs any, since what is sent there would else be done in somebody else's name.
  const { user_id, token } = query;
  const common = takeCommon(query, early?.value, route.ownField);
  const user = asksOwnToken(route.access) || isOpen(route.access) ? common : { user_id, token };
  const app = isUnsigned(route.access) ? null : readAppCredentials(authorization, common);
  progress.sentApp = app !== null;

  const { namespace } = common;
  // A body that cannot be read may have held the namespace, so its own error says more than namespaceMissing.
  if (!namespace) throw (namespace === undefined && early?.error) || namespaceMissing();
  progress.namespace = namespace;
  const found = deps.lookup(namespace, app && "value" in app ? app.value.appId : undefined);
  const { tenant, key } = found instanceof Promise ? await found : found;
  if (!tenant || tenant.suspended) throw storeNotFound();
  progress.tenant = tenant;

  const isCounted = route.path.startsWith("/auth/");
  if (isCounted) await deps.countAttempt({ clientIp: deps.clientIpOf(request), namespace, requestId });
  const clientIp = () => deps.clientIpOf(request);
  const claim = { tenant, app, user, key, origin, requestId, clientIp, isCounted };
  const proved = authenticate(deps, route.access, claim);
  const actor = proved instanceof Promise ? await proved : proved;
  progress.actor = actor;
  if (deps.logFrom === 0) progress.provedAt = performance.now();
  permit(route.access, actor);

  const body = early ?? (route.method === "GET" ? undefined : await readInto(deps, request, progress));
  if (body?.error) throw body.error;
  if (!early) {
    const inBody = takeCommon({}, body?.value, route.ownField);
    common.lang ??= inBody.lang;
    common.user_id ??= inBody.user_id;
  }
  const ctx: Ctx = {
    db: deps.db,
    tenant,
    actor,
    vault: deps.vault,
    requestId,
    now: deps.now,
    memory: deps.memory,
    push: deps.push,
    // Asking the socket costs as much as the rest of a read, and few services want to know.
    get clientIp() {
      return deps.clientIpOf(request);
    },
    get userAgent() {
      return request.headers.get("user-agent");
    },
  };
  const call: Call = {
    ctx,
    params: checkParams(route, params),
    query: checkQuery(route, query),
    body: checkBody(route, body?.value),
    lang: common.lang === undefined ? undefined : parseLanguage("lang", common.lang),
    subject: actor.kind === "app" ? common.user_id : undefined,
    ifMatch: null,
  };
  if (route.method === "GET") return route.handle(call as never, undefined as never);
  const sentKey = request.headers.get("idempotency-key");
  const versions = route.conditional ? parseIfMatch(request.headers.get("if-match")) : null;
  return answerFirstMatch(versions, (ifMatch) => answerIdempotently(route, { ...call, ifMatch }, sentKey));
}

/** Whether the tenant has been deleted while a request worked in it. */
async function isGone(deps: PipelineDeps, { namespace }: Progress): Promise<boolean> {
  // What this turn of the event loop sees may be older than the fault.
  await new Promise((resolve) => setImmediate(resolve));
  return namespace !== undefined && !(await hasTenant(deps.db, namespace));
}

/** Whether the tenant or the credentials can only stand in the body. */
function mayNameCaller(route: Route, query: Query, authorization: string | null): boolean {
  if (route.method === "GET") return false;
  if (query.namespace === undefined) return true;
  if (isUnsigned(route.access)) return false;
  if (isOpen(route.access) && !("user_id" in query && "token" in query)) return true;
  if (asksOwnToken(route.access) && !("user_id" in query && "token" in query)) return true;
  // Beside a user token in the query, the body may hold app credentials, and one that succeeds is enough.
  return !isAppAuthorization(authorization) && !("app_id" in query && "app_secret" in query);
}

async function readInto(deps: PipelineDeps, request: Request, progress: Progress) {
  progress.hasRead = true;
  const body = await readBody(request, deps.bodyLimits, deps.bodyMemory);
  if (body.error?.headers) progress.mustClose = true;
  return body;
}
