import ipaddr from "ipaddr.js";
import type { Actor, Tenant } from "../context.ts";
import type { Database, Session } from "../db/session.ts";
import {
  AppError,
  appAuthFailed,
  forbidden,
  malformedRequest,
  notAuthenticated,
  tooManyAuthAttempts,
  userTokenInvalid,
} from "../errors.ts";
import { type Access, allowsAnonymous, asksOwnToken, ignoresCredentials } from "../http/route.ts";
import { type ResolvedKey, sameHash } from "../modules/app-keys/lookup.ts";
import { verifyOrigin } from "../modules/app-keys/origins.ts";
import { recordAudit } from "../modules/audit/service.ts";
import { addressSubject, authAttempts, countHit } from "../modules/rate-limits/service.ts";
import { verifyToken } from "../modules/tokens/service.ts";
import { hasScope } from "../security/scopes.ts";
import type { Vault } from "../security/vault.ts";
import { addressGroup } from "../values/ip-prefix.ts";
import { LruCache } from "../values/lru-cache.ts";
import { type RequestCredentials, type TokenCredentials, tokenCredentialsOf } from "./credentials.ts";

export type CountAttempt = (by: { clientIp: string | null; namespace: string; requestId: string }) => Promise<void>;

/**
 * Returns a function that counts an attempt. After ten in a minute from an address (specification, sections 7 and 8), it
 * throws tooManyAuthAttempts. The address is then cached until its next attempt is allowed, so that a flood of requests
 * causes no reads or writes.
 */
export function createAttemptCounter(db: Database, vault: Vault, now: () => number): CountAttempt {
  const freeAt = new LruCache<number>(5000);
  return async ({ clientIp, namespace, requestId }) => {
    const address = addressGroup(clientIp ?? "unknown");
    const known = freeAt.get(address);
    let waitMs = known === undefined ? 0 : known - now();
    // A wait longer than twice the window means that the clock was set back, so the attempts are counted anew.
    if (waitMs <= 0 || waitMs > 2 * authAttempts.windowMs) {
      freeAt.delete(address);
      waitMs = await countHit({ db, now }, authAttempts, addressSubject(vault, clientIp), namespace);
      if (waitMs === 0) return;
      freeAt.set(address, now() + waitMs);
      const ctx = { db, actor: { kind: "visitor" }, requestId, now, client: { ip: clientIp } } as const;
      await recordAudit(ctx, { event: "attempts.refused", namespace, error: "tooManyAuthAttempts" });
    }
    throw tooManyAuthAttempts(undefined, { retryAfter: Math.ceil(waitMs / 1000) });
  };
}

export interface AuthDeps {
  db: Session;
  countAttempt: CountAttempt;
  recordUse: (secret: { id: string; lastUsedAt: number }, now: number) => void;
  now: () => number;
  clientIpOf: (request: Request) => string | null;
  /** The actor of a request that this program makes itself, without credentials. */
  actorOf?: ((request: Request) => Actor | undefined) | undefined;
}

interface Attempt {
  request: Request;
  requestId: string;
  origin: string | null;
  sent: RequestCredentials;
  tenant: Tenant;
  key: ResolvedKey | null;
  /** Whether the request was already counted as an attempt, as all calls of `/auth/` are. */
  isCounted: boolean;
}

const originRemedy = "Use the key from an allowed origin, or allow this one: bodega origin add";

/** Whether an error is one of authentication: from invalidAppCredentials, 5202, to tokenExpired, 5207. */
const isAuthError = (error: unknown): error is AppError =>
  error instanceof AppError && error.code >= 5202 && error.code <= 5207;

/**
 * Returns the caller. If several credentials were sent, the first valid one counts (specification, section 5).
 * @throws an error of authentication; userTokenInvalid if the route is about the token itself; tooManyAuthAttempts
 * instead of these if the address has no attempts left.
 */
export function authenticate(deps: AuthDeps, access: readonly Access[], attempt: Attempt): Actor | Promise<Actor> {
  const own = ignoresCredentials(access) ? undefined : deps.actorOf?.(attempt.request);
  if (own) return own;
  try {
    const actor = verifyMethods(deps, access, attempt);
    return actor instanceof Promise ? actor.catch((error) => countFailure(deps, attempt, error)) : actor;
  } catch (error) {
    return countFailure(deps, attempt, error);
  }
}

async function countFailure(deps: AuthDeps, attempt: Attempt, error: unknown): Promise<never> {
  const { request, requestId, sent, tenant, isCounted } = attempt;
  // A request without credentials is no attempt, and always gets notAuthenticated.
  const hasSent = sent.app !== null || sent.user.token !== undefined || sent.user.user_id !== undefined;
  // An error with `originRemedy` means that the secret was right, so the caller guessed nothing.
  const isGuess = isAuthError(error) && error.remedy !== originRemedy;
  if (!isCounted && hasSent && isGuess) {
    await deps.countAttempt({ clientIp: deps.clientIpOf(request), namespace: tenant.namespace, requestId });
  }
  throw error;
}

/**
 * Returns the address in `X-Client-Address`, in which a shop's server sends its customer's address, so that limits count
 * the customer. Null if the key lacks the scope `auth:forward` or is used by pages, where every visitor can read it.
 * Throws malformedRequest.
 */
export function forwardedAddress(deps: AuthDeps, attempt: Attempt): string | null {
  const { request, sent } = attempt;
  const named = request.headers.get("x-client-address");
  if (named === null || !sent.key || !("value" in sent.key)) return null;
  let actor: ReturnType<typeof verifyApp>;
  try {
    actor = verifyApp(deps, sent.key.value, attempt);
  } catch (error) {
    requireAuthError(error);
    return null;
  }
  if (actor.isWeb || !hasScope(actor.scopes, "auth:forward")) return null;
  const address = named.trim();
  if (!ipaddr.isValid(address)) throw malformedRequest("X-Client-Address must be one IP address.");
  return ipaddr.process(address).toString();
}

function isAdmitted(access: readonly Access[], actor: Actor): boolean {
  for (const method of access) {
    if (method.kind === "public") return true;
    if (actor.kind === "terminal" && (method.kind === "app" || method.role === "staff")) return true;
    if (method.kind === "app" && actor.kind === "app" && (!method.scope || hasScope(actor.scopes, method.scope)))
      return true;
    if (method.kind === "token" && actor.kind === "user" && (method.role === undefined || actor.role !== "customer"))
      return true;
  }
  return false;
}

/** Returns the access for which a key alone is enough. Other access depends on which visitor of a page is calling. */
function withoutVisitors(access: readonly Access[]): readonly Access[] {
  if (allowsAnonymous(access)) return [];
  const isForUsers = access.some(({ kind }) => kind === "token");
  return isForUsers ? access.filter((method) => method.kind !== "app" || method.scope !== "orders:place") : access;
}

/** Throws forbidden if the caller may not use the route. The error names the missing scope or the allowed callers. */
export function authorize(access: readonly Access[], actor: Actor): void {
  if (isAdmitted(access, actor)) return;
  const missing = actor.kind === "app" && access.find((method) => method.kind === "app")?.scope;
  const isForUsers =
    actor.kind === "app" && access.some((method) => method.kind === "token" && method.role === undefined);
  const remedy = isForUsers ? `Sign a user in${missing ? ", or use a key with this scope" : ""}.` : undefined;
  const nobody = isForUsers ? ", and no user is signed in" : "";
  if (missing) throw forbidden(`The key lacks the scope ${missing}${nobody}.`, { remedy });
  if (actor.kind === "terminal") throw forbidden("Only users may do this.", { remedy: "Name the user with --as." });
  const callers = access.some(({ kind }) => kind === "token") ? "staff and app keys" : "app keys";
  throw forbidden(`Only ${actor.kind === "app" ? "users" : callers} may do this.`, { remedy });
}

function verifyMethods(deps: AuthDeps, access: readonly Access[], attempt: Attempt): Actor | Promise<Actor> {
  if (ignoresCredentials(access)) return { kind: "visitor" };
  const { app, user } = attempt.sent;
  if (user.token !== undefined && asksOwnToken(access)) return verifyOwnToken(deps, attempt);
  const failures: AppError[] = [];
  if (app && "error" in app) failures.push(app.error);
  try {
    const actor = app && "value" in app && verifyApp(deps, app.value, attempt);
    // A page sends its key with every call. Where any visitor may act, a user token says who the visitor is, so the
    // token must be valid. On other routes, the token is checked only if the key alone does not suffice.
    if (actor && (user.token === undefined || isAdmitted(withoutVisitors(access), actor))) return actor;
  } catch (error) {
    failures.push(requireAuthError(error));
  }
  try {
    const credentials = tokenCredentialsOf(user, app !== null);
    if (credentials) {
      return verifyUser(deps, attempt.tenant, credentials).catch((error) => {
        throw combineErrors([...failures, requireAuthError(error)]);
      });
    }
  } catch (error) {
    failures.push(requireAuthError(error));
  }
  if (failures.length > 0) throw combineErrors(failures);
  if (allowsAnonymous(access)) return { kind: "visitor" };
  throw notAuthenticated("No credentials were sent.");
}

function verifyApp(deps: AuthDeps, { appSecret }: { appSecret: string }, { key, tenant, origin }: Attempt) {
  const now = deps.now();
  const hash = Bun.SHA256.hash(appSecret) as Uint8Array;
  const secret = key?.secrets.find((known) => sameHash(known.hash, hash) && known.expiresAt > now);
  const isValid = key && secret && key.usable && key.tenantId === tenant.id && key.expiresAt > now;
  // The reply is the same for a wrong id, secret or store, so that it does not reveal a right one.
  if (!isValid) throw appAuthFailed();
  const verdict = verifyOrigin(key, origin);
  if (!verdict.allowed) throw appAuthFailed(verdict.reason, { remedy: originRemedy });
  deps.recordUse(secret, now);
  const isWeb = origin !== null || (key.enforceOrigins && key.patterns.length > 0);
  return { kind: "app", appId: key.appId, scopes: key.scopes, isWeb } as const;
}

async function verifyUser(deps: AuthDeps, tenant: Tenant, sent: TokenCredentials): Promise<Actor> {
  return { kind: "user", ...(await verifyToken(deps, { tenantId: tenant.id, ...sent })) };
}

/** Verifies the token of a refresh or logout. Every invalid token is userTokenInvalid: the user has to log in again. */
async function verifyOwnToken(deps: AuthDeps, { tenant, sent }: Attempt): Promise<Actor> {
  const credentials = tokenCredentialsOf(sent.user, false) as TokenCredentials;
  try {
    return await verifyUser(deps, tenant, credentials);
  } catch (error) {
    throw userTokenInvalid(undefined, { cause: requireAuthError(error) });
  }
}

function combineErrors([first, second]: AppError[]): AppError {
  return second ? notAuthenticated("Several authentication methods were sent; none succeeded.") : (first as AppError);
}

/** Returns an error of authentication. Throws any other error, such as unavailable. */
function requireAuthError(error: unknown): AppError {
  if (isAuthError(error)) return error;
  throw error;
}
