import type { PushOptions } from "../config/push-config.ts";
import type { Actor, Ctx, MediaStore, ProcessMemory, Tenant } from "../context.ts";
import { isForeignKeyViolation } from "../db/db-errors.ts";
import type { Database } from "../db/session.ts";
import { invalidAppCredentials, invalidTokenParams, namespaceMissing, storeNotFound } from "../errors.ts";
import { isOpen } from "../http/access.ts";
import { baseHeaders, errorResponse } from "../http/envelope.ts";
import type { Call, Route } from "../http/route.ts";
import { type CredentialLookup, hasTenant, type Known } from "../modules/app-keys/lookup.ts";
import { verifyOrigin } from "../modules/app-keys/origins.ts";
import { parseLanguage } from "../modules/tenants/input.ts";
import type { RouteMeter } from "../monitoring/metrics/meter.ts";
import type { Vault } from "../security/vault.ts";
import { hasNumbers } from "../values/schema.ts";
import { answerCall } from "./answer-call.ts";
import { type LogDeps, logAnswer } from "./answer-log.ts";
import { type Arrived, answerRead } from "./answer-read.ts";
import { type AuthDeps, authenticate, authorize, forwardedAddress } from "./authenticate.ts";
import { type Body, type BodyLimits, dropBody, readBody } from "./body.ts";
import type { BodyMemory } from "./body-memory.ts";
import { checkBody, checkParams, checkQuery, parseQuery, type Query } from "./check-input.ts";
import { mayNameCaller, readSent, type Sent, takeCommon } from "./credentials.ts";
import { allowOrigin, RequestClient, requestIdOf } from "./headers.ts";
import { actsForVisitors, countRefusal, publicLimits } from "./public-calls.ts";
import { readWithCredentials } from "./read-with-credentials.ts";
import { readUpload } from "./upload.ts";

export interface PipelineDeps extends AuthDeps, LogDeps {
  db: Database;
  lookup: CredentialLookup;
  bodyLimits: BodyLimits;
  bodyMemory: BodyMemory;
  /** Uploads hold theirs until they are answered. */
  uploadMemory: BodyMemory;
  vault: Vault;
  memory: ProcessMemory;
  push: PushOptions;
  /** Of the program. */
  version: string;
  media?: MediaStore | undefined;
  /** Of the server, before the paths of pictures. */
  publicUrl?: string | undefined;
}

interface Incoming extends Arrived {
  /** Of the path, not yet checked. */
  params: Record<string, string>;
}

/**
 * Answers one request of a route. The steps run in the order of the specification's conventions. An error of any step
 * becomes the error envelope, which uses the results of the earlier steps, as the log does.
 */
export async function answerRoute(
  deps: PipelineDeps,
  { route, meter }: { route: Route; meter: RouteMeter },
  request: Request,
  params: Record<string, string>,
): Promise<Response> {
  const started = performance.now();
  const requestId = requestIdOf(request.headers);
  const incoming: Incoming = { request, requestId, route, params };
  deps.meter.inFlight++;
  let received: Promise<Body> | undefined;
  const receive = (namespace?: string) => {
    received ??= receiveBody(deps, incoming, namespace);
    return received;
  };
  const answer = (find: CredentialLookup["find"]) => answerWith(deps, incoming, receive, find);
  const answered = await (route.method === "GET" ? readWithCredentials(deps.lookup, answer) : answer(deps.lookup.find));
  (await received)?.release?.();
  deps.meter.inFlight--;
  logAnswer(answered.deps, { request, meter, requestId, started, ...answered });
  return answered.response;
}

async function answerWith(
  deps: PipelineDeps,
  incoming: Incoming,
  receive: (namespace?: string) => Promise<Body>,
  find: CredentialLookup["find"],
) {
  const { request, requestId, route } = incoming;
  const origin = request.headers.get("origin");
  let sent: Sent | undefined;
  let body: Body | undefined;
  let known: Known | undefined;
  let tenant: Tenant | undefined;
  let actor: Actor | undefined;
  let authenticatedAt: number | undefined;
  let failure: unknown;
  let response: Response;
  /** With the address that a server names for its customer. */
  let own = deps;
  try {
    const inUrl = parseQuery(request.url, route.query);
    const authorization = request.headers.get("authorization");
    if (mayNameCaller(route, inUrl.common, authorization)) body = await receive();
    sent = readSent(route, inUrl.common, authorization, body?.value);

    const namespace = requireNamespace(sent, body);
    const app = request.headers.has("x-client-address") ? sent.key : sent.app;
    const found = find(namespace, app && "value" in app ? app.value.appId : undefined);
    known = found instanceof Promise ? await found : found;
    tenant = requireActive(known);

    const isCounted = route.isAttempt ?? route.path.startsWith("/auth/");
    const attempt = { request, requestId, origin, sent, tenant, key: known.key, isCounted };
    if (isCounted || actsForVisitors(route)) own = nameClient(deps, forwardedAddress(deps, attempt));
    if (isCounted) await own.countAttempt({ clientIp: own.clientIpOf(request), namespace, requestId });
    const verdict = authenticate(deps, route.access, attempt);
    actor = verdict instanceof Promise ? await verdict : verdict;
    if (deps.logFrom === 0) authenticatedAt = performance.now();
    authorize(route.access, actor);

    let { common } = sent;
    if (body === undefined && route.method !== "GET") {
      body = await receive(namespace);
      common = { ...takeCommon(body.value, route.ownField), ...common };
    }
    if (body?.error) throw body.error;
    const headers = baseHeaders(requestId);
    if (origin !== null) allowOrigin(headers, origin);
    const call = checkCall(incoming, createContext(own, incoming, tenant, actor), { query: inUrl.query, body, common });
    response = await (route.readState
      ? answerRead(deps, incoming, call, headers)
      : answerCall(deps, incoming, call, headers));
  } catch (error) {
    const isGone = tenant !== undefined && isForeignKeyViolation(error) && (await isDeleted(deps.db, tenant));
    failure = isGone ? storeNotFound() : (error ?? new Error("nothing was thrown"));
    if (tenant) failure = await countRefusal(own, incoming, tenant, failure);
    const headers = baseHeaders(requestId);
    // A page may read why it was refused, unless it used a key of a store that has not allowed its origin.
    if (origin !== null && (!sent?.app || actor || (known && (!known.tenant || allowsOrigin(known, origin)))))
      allowOrigin(headers, origin);
    if (body ? body.error?.headers : !(await dropBody(request, deps.bodyLimits))) headers.Connection = "close";
    response = errorResponse(requestId, failure, headers);
  }
  const namespace = sent?.common.namespace || undefined;
  return { deps: own, response, failure, namespace, tenant, actor, authenticatedAt };
}

/** Answers a request that matches no route: routeNotFound, methodNotAllowed, an OPTIONS, and pages outside the API. */
export async function answerElsewhere(
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

function nameClient(deps: PipelineDeps, address: string | null): PipelineDeps {
  return address === null ? deps : { ...deps, clientIpOf: () => address };
}

function receiveBody(deps: PipelineDeps, { request, route }: Incoming, namespace = ""): Promise<Body> {
  if (route.upload) return readUpload(request, route.upload, deps.uploadMemory, namespace);
  const limits = isOpen(route.access) || actsForVisitors(route) ? publicLimits(deps.bodyLimits) : deps.bodyLimits;
  const isExact = route.body !== undefined && hasNumbers(route.body);
  return readBody(request, limits, deps.bodyMemory, { allowsText: route.plainText, isExact });
}

/** Errors: those of the credentials that were sent without it (specification, section 7), else namespaceMissing. */
function requireNamespace({ common: { namespace }, app, user }: Sent, body: Body | undefined): string {
  if (namespace) return namespace;
  // A body that cannot be read may have held the namespace, so its own error says more.
  if (namespace === undefined && body?.error) throw body.error;
  if (app !== null) throw invalidAppCredentials("`namespace` is missing.");
  if (user.user_id !== undefined || user.token !== undefined) throw invalidTokenParams("`namespace` is missing.");
  throw namespaceMissing();
}

function requireActive({ tenant }: Known): Tenant {
  if (!tenant) throw storeNotFound();
  if (tenant.suspended) throw storeNotFound("The store is suspended.", { remedy: "Ask the operator of the store." });
  return tenant;
}

function createContext(deps: PipelineDeps, { request, requestId }: Incoming, tenant: Tenant, actor: Actor): Ctx {
  return {
    db: deps.db,
    tenant,
    actor,
    vault: deps.vault,
    requestId,
    now: deps.now,
    memory: deps.memory,
    push: deps.push,
    media: deps.media,
    client: new RequestClient(deps.clientIpOf, request),
  };
}

function checkCall(
  { route, params }: Incoming,
  ctx: Ctx,
  { query, body, common }: { query: Query; body: Body | undefined; common: Sent["common"] },
): Call {
  return {
    ctx,
    params: checkParams(route, params),
    query: checkQuery(route, query),
    body: checkBody(route, body?.value),
    lang: common.lang === undefined ? undefined : parseLanguage("lang", common.lang),
    subject: ctx.actor.kind === "app" ? common.user_id : undefined,
    ifMatch: null,
  };
}

/** Whether the key that was sent, even with a wrong secret, is one of the store and allows a page's origin. */
function allowsOrigin({ tenant, key }: Known, origin: string): boolean {
  return key !== null && key.tenantId === tenant?.id && verifyOrigin(key, origin).allowed;
}

/** Whether a store was deleted while a request worked in it. */
async function isDeleted(db: Database, { namespace }: Tenant): Promise<boolean> {
  // A read in this turn of the event loop may be older than the error.
  await new Promise((resolve) => setImmediate(resolve));
  return !(await hasTenant(db, namespace));
}
