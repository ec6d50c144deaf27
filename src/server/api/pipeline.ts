import { nextTurn } from "../concurrency/event-loop.ts";
import type { Actor, Ctx, MediaStore, PaymentOptions, ProcessMemory, Tenant } from "../context.ts";
import { isForeignKeyViolation } from "../db/db-errors.ts";
import { limitSession } from "../db/limit-session.ts";
import type { Database } from "../db/session.ts";
import { AppError, notAuthenticated, storeNotFound } from "../errors.ts";
import { baseHeaders, errorResponse } from "../http/envelope.ts";
import type { Route } from "../http/route.ts";
import { type CredentialLookup, hasTenant, type ResolvedCredentials } from "../modules/app-keys/lookup.ts";
import { verifyOrigin } from "../modules/app-keys/origins.ts";
import type { RouteMeter } from "../monitoring/metrics/meter.ts";
import type { Vault } from "../security/vault.ts";
import { type LogDeps, logAnswer } from "./answer-log.ts";
import { answerCall, type RouteRequest } from "./answers.ts";
import { type AuthDeps, authenticate, authorize, forwardedAddress } from "./authenticate.ts";
import { type Body, type BodyLimits, type BodyMemory, dropBody, readBody } from "./body.ts";
import { answerWithEtag } from "./catalogue-reads.ts";
import { checkCall, parseQuery } from "./check-input.ts";
import { bodyMayCarryCredentials, extractCredentials, popCommonParams, requireNamespace } from "./credentials.ts";
import { answerStream, asksForStream } from "./event-stream.ts";
import { allowOrigin, RequestClient, requestIdOf } from "./headers.ts";
import { actsForVisitors, bodyLimitsOf, countRefusal } from "./public-calls.ts";
import { readWithCredentials } from "./read-with-credentials.ts";
import type { ReplyCache } from "./reply-cache.ts";
import { readUpload } from "./upload.ts";

export interface PipelineDeps extends AuthDeps, LogDeps {
  db: Database;
  lookup: CredentialLookup;
  replies: ReplyCache;
  bodyLimits: BodyLimits;
  bodyMemory: BodyMemory;
  uploadMemory: BodyMemory;
  vault: Vault;
  memory: ProcessMemory;
  push: NonNullable<Ctx["push"]>;
  version: string;
  media?: MediaStore | undefined;
  publicUrl?: string | undefined;
  payments?: PaymentOptions | undefined;
  isDraining: () => boolean;
  streams: Map<string, number>;
}

/** The results of a request's steps so far, for the error reply and the log. */
interface Found {
  /** If a shop's server sent the address of its customer, `clientIpOf` returns that address. */
  deps: PipelineDeps;
  sent?: ReturnType<typeof extractCredentials>;
  body?: Body | undefined;
  known?: ResolvedCredentials;
  tenant?: Tenant;
  actor?: Actor;
  counting?: Promise<void>;
  failure?: unknown;
}

/** `receive` reads the request's body, at most once. `find` looks up its store and key. */
interface Sources {
  receive: (namespace?: string) => Promise<Body>;
  find: CredentialLookup["find"];
}

/** Maximum time for the statements of a request on a database server, without the look-up of its credentials. */
const serverLimitMs = 10_000;

/** Answers one request of a route: identifies store and key, admits the caller, and answers or refuses. */
export async function answerRoute(
  deps: PipelineDeps,
  { route, meter }: { route: Route; meter: RouteMeter },
  request: Request,
  params: Record<string, string>,
): Promise<Response> {
  const started = performance.now();
  const requestId = requestIdOf(request.headers);
  const incoming: RouteRequest = { request, requestId, route, params };
  deps.meter.inFlight++;
  let received: Promise<Body> | undefined;
  const receive = (namespace?: string) => {
    received ??= receiveBody(deps, incoming, namespace);
    return received;
  };
  const readsCredentials = route.method === "GET" && deps.lookup.cached !== undefined && !asksForStream(incoming);
  let counting: Promise<void> | undefined;
  // A read may be answered twice, but counts as one attempt.
  const countAttempt: PipelineDeps["countAttempt"] = (attempt) => (counting ??= deps.countAttempt(attempt));
  const answerWith = async (find: Sources["find"]) => {
    const found: Found = { deps: readsCredentials ? { ...deps, countAttempt } : deps };
    try {
      return { found, response: await answer(found, incoming, { receive, find }) };
    } catch (error) {
      return { found, response: await refuse(found, incoming, error) };
    }
  };
  const { found, response } = await (readsCredentials
    ? readWithCredentials(deps.lookup, answerWith)
    : answerWith(deps.lookup.find));
  if (received) (await received).release?.();
  deps.meter.inFlight--;
  const { sent, tenant, actor, failure } = found;
  const namespace = sent?.common.namespace || undefined;
  logAnswer(found.deps, { request, response, meter, requestId, started, failure, namespace, tenant, actor });
  return response;
}

/** Runs the steps in the order of the specification, and records their results in `found`. */
async function answer(found: Found, incoming: RouteRequest, sources: Sources): Promise<Response> {
  const { request, requestId, route } = incoming;
  const identified = await identify(found, incoming, sources);
  const { query, namespace, tenant } = identified;
  const actor = await admit(found, incoming, identified);
  let { common } = identified.sent;
  if (found.body === undefined && route.method !== "GET") {
    found.body = await sources.receive(namespace);
    common = { ...popCommonParams(found.body.value, route.ownField), ...common };
  }
  if (found.body?.error) throw found.body.error;
  const headers = baseHeaders(requestId);
  const origin = request.headers.get("origin");
  if (origin !== null) allowOrigin(headers, origin);
  const ctx = createContext(found.deps, incoming, tenant, actor);
  const call = checkCall(incoming, ctx, { query, body: found.body, common });
  if (asksForStream(incoming)) {
    const isOpen = () => isStillAdmitted(found, incoming, sources);
    return answerStream(found.deps, incoming, call, { headers, isOpen });
  }
  return route.readEtagSource
    ? answerWithEtag(found.deps, incoming, call, headers)
    : answerCall(found.deps, incoming, call, headers);
}

async function identify(found: Found, incoming: RouteRequest, { receive, find }: Sources) {
  const { request, route } = incoming;
  const { query, common } = parseQuery(request.url, route.query);
  const authorization = request.headers.get("authorization");
  if (bodyMayCarryCredentials(route, common, authorization)) found.body = await receive();
  const sent = extractCredentials(route, common, authorization, found.body?.value);
  found.sent = sent;
  const namespace = requireNamespace(sent, found.body);
  const isForwarded = request.headers.has("x-client-address");
  // The attempt is counted while the store is looked up, which saves a round trip. Only attempts at active stores count.
  if (isAttempt(route) && !isForwarded) found.counting = countAttempt(found.deps, incoming, namespace);
  found.counting?.catch(() => {});
  const app = isForwarded ? sent.key : sent.app;
  const finding = find(namespace, app && "value" in app ? app.value.appId : undefined);
  const known = finding instanceof Promise ? await finding : finding;
  found.known = known;
  const { tenant } = known;
  if (!tenant) throw storeNotFound();
  if (tenant.suspended) throw storeNotFound("The store is suspended.", { remedy: "Ask the operator of the store." });
  found.tenant = tenant;
  return { sent, query, namespace, known, tenant };
}

const isAttempt = (route: Route) => route.isAttempt ?? route.path.startsWith("/auth/");

function countAttempt(deps: PipelineDeps, { request, requestId }: RouteRequest, namespace: string): Promise<void> {
  return deps.countAttempt({ clientIp: deps.clientIpOf(request), namespace, requestId });
}

async function admit(
  found: Found,
  incoming: RouteRequest,
  { namespace, known: { key }, sent, tenant }: Awaited<ReturnType<typeof identify>>,
): Promise<Actor> {
  const { request, requestId, route } = incoming;
  if (route.signed && !request.headers.has(route.signed)) throw notAuthenticated("The signature is missing.");
  const isCounted = isAttempt(route);
  const attempt = { request, requestId, origin: request.headers.get("origin"), isCounted, sent, tenant, key };
  if (isCounted || actsForVisitors(route)) {
    const address = forwardedAddress(found.deps, attempt);
    if (address !== null) found.deps = { ...found.deps, clientIpOf: () => address };
  }
  const { deps } = found;
  if (isCounted) await (found.counting ?? countAttempt(deps, incoming, namespace));
  const authenticated = authenticate(deps, route.access, attempt);
  const actor = authenticated instanceof Promise ? await authenticated : authenticated;
  found.actor = actor;
  authorize(route.access, actor);
  return actor;
}

/** Whether a stream may continue: the server is not stopping, and the stream's caller would be admitted again. */
async function isStillAdmitted({ deps }: Found, incoming: RouteRequest, sources: Sources): Promise<boolean> {
  if (deps.isDraining()) return false;
  try {
    const found: Found = { deps };
    await admit(found, incoming, await identify(found, incoming, sources));
    return true;
  } catch {
    return false;
  }
}

async function refuse(found: Found, incoming: RouteRequest, error: unknown): Promise<Response> {
  const { request, requestId } = incoming;
  const { deps, body, tenant } = found;
  const isGone = tenant !== undefined && isForeignKeyViolation(error) && (await isDeleted(deps.db, tenant));
  found.failure = isGone ? storeNotFound() : (error ?? new Error("nothing was thrown"));
  if (incoming.route.signed) found.failure = await countForgery(deps, incoming, found);
  if (tenant) found.failure = await countRefusal(deps, incoming, tenant, found.failure);
  const headers = baseHeaders(requestId);
  const origin = request.headers.get("origin");
  if (origin !== null && mayReadRefusal(found, origin)) allowOrigin(headers, origin);
  if (body ? body.error?.headers : !(await dropBody(request, deps.bodyLimits))) headers.Connection = "close";
  return errorResponse(requestId, found.failure, headers);
}

/** Counts a webhook call with a wrong signature. Returns the call's error, or tooManyAuthAttempts at the limit. */
async function countForgery(deps: PipelineDeps, incoming: RouteRequest, { failure, tenant }: Found): Promise<unknown> {
  if (!tenant || !(failure instanceof AppError && failure.kind === "notAuthenticated")) return failure;
  return countAttempt(deps, incoming, tenant.namespace).then(
    () => failure,
    (error: unknown) => error,
  );
}

/** Whether a page may read the error. If its key or secret was refused, the key must allow the page's origin. */
function mayReadRefusal({ sent, actor, known }: Found, origin: string): boolean {
  if (!sent?.app || actor || known?.tenant === null) return true;
  // The key was found by its id, so it may be known although the secret was wrong.
  const key = known?.key;
  return key != null && key.tenantId === known?.tenant?.id && verifyOrigin(key, origin).allowed;
}

function receiveBody(deps: PipelineDeps, { request, route }: RouteRequest, namespace = ""): Promise<Body> {
  if (route.upload) return readUpload(request, route.upload, deps.uploadMemory, namespace);
  const limits = bodyLimitsOf(route, deps.bodyLimits);
  return readBody(request, limits, deps.bodyMemory, route.plainText);
}

function createContext(deps: PipelineDeps, incoming: RouteRequest, tenant: Tenant, actor: Actor): Ctx {
  const { request, requestId, route } = incoming;
  const isLimited = deps.db.kind === "server" && !asksForStream(incoming);
  const db = isLimited ? limitSession(deps.db, serverLimitMs) : deps.db;
  const { vault, now, memory, push, media, payments, clientIpOf } = deps;
  const client = new RequestClient(clientIpOf, request);
  const orderToken = request.headers.get("x-order-token") ?? undefined;
  const signature = route.signed && request.headers.get(route.signed);
  const given = { client, orderToken, ...(signature && { signature }) };
  return { db, tenant, actor, vault, requestId, now, memory, push, media, payments, ...given };
}

async function isDeleted(db: Database, { namespace }: Tenant): Promise<boolean> {
  // A read in this turn of the event loop could use a snapshot from before the error, so this waits for the next turn.
  await nextTurn();
  return !(await hasTenant(db, namespace));
}
