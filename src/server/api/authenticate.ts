import type { Actor, ProcessMemory, Tenant } from "../context.ts";
import type { Session } from "../db/session.ts";
import { AppError, appAuthFailed, type ErrorKind, forbidden, notAuthenticated, userTokenInvalid } from "../errors.ts";
import { type Access, asksOwnToken, isOpen, isUnsigned } from "../http/access.ts";
import { hasScope } from "../http/scopes.ts";
import type { KnownKey } from "../modules/app-keys/lookup.ts";
import { judgeOrigin } from "../modules/app-keys/origins.ts";
import { sameHash } from "../modules/app-keys/secret.ts";
import { judgeToken } from "../modules/tokens/judge.ts";
import type { CountAttempt } from "./attempts.ts";
import {
  type AppCredentials,
  type Sent,
  type SentUser,
  type TokenCredentials,
  tokenCredentialsOf,
} from "./credentials.ts";

/** What proving a caller needs. */
export interface AuthDeps {
  db: Session;
  countAttempt: CountAttempt;
  noteUse: (secret: { id: string; lastUsedAt: number }, now: number) => void;
  memory: Pick<ProcessMemory, "rejections">;
  now: () => number;
}

/** What a request says of its caller. */
export interface Claim {
  tenant: Tenant;
  app: Sent<AppCredentials>;
  user: SentUser;
  /** The key of the id that was sent; null when there is none. */
  key: KnownKey | null;
  origin: string | null;
  requestId: string;
  clientIp: () => string | null;
  /** Whether the call has been counted as an attempt already, as all of `/auth/` are. */
  isCounted: boolean;
}

const originRemedy = "Use the key from an origin on its list, or have the shop's admin add this one to it.";

/** Errors of a failed attempt to prove something; these count towards tooManyAuthAttempts. */
const countedKinds: ReadonlySet<ErrorKind> = new Set([
  "invalidAppCredentials",
  "appAuthFailed",
  "invalidTokenParams",
  "tokenNotFound",
  "notAuthenticated",
  "tokenExpired",
] as const);

/**
 * Proves who calls (specification, section 5). Of several methods sent, the first that succeeds counts.
 * @returns the actor, at once unless a token has to be looked up; a visitor only where the route is open to anyone.
 * @throws invalidAppCredentials to tokenExpired as the table says, userTokenInvalid where the route is about the token itself, or tooManyAuthAttempts instead of
 * these once the address has spent its attempts.
 */
export function authenticate(deps: AuthDeps, access: readonly Access[], claim: Claim): Actor | Promise<Actor> {
  try {
    const actor = prove(deps, access, claim);
    return actor instanceof Promise ? actor.catch((error) => refuse(deps, claim, error)) : actor;
  } catch (error) {
    return refuse(deps, claim, error);
  }
}

async function refuse(deps: AuthDeps, claim: Claim, error: unknown): Promise<never> {
  if (!claim.isCounted && error instanceof AppError && countedKinds.has(error.kind) && hasAttempted(claim)) {
    const { tenant, requestId } = claim;
    await deps.countAttempt({ clientIp: claim.clientIp(), namespace: tenant.namespace, requestId });
  }
  throw error;
}

/**
 * Whether a proved caller may use a route.
 * @throws forbidden naming the scope that a key lacks.
 */
export function permit(access: readonly Access[], actor: Actor): void {
  let missing: string | undefined;
  for (const way of access) {
    if (way.kind === "public") return;
    if (way.kind === "app" && actor.kind === "app") {
      if (hasScope(actor.scopes, way.scope)) return;
      missing = way.scope;
    }
    if (way.kind === "token" && actor.kind === "user" && (way.role === undefined || actor.role !== "customer")) return;
  }
  throw forbidden(missing ? `The key lacks the scope ${missing}.` : undefined);
}

function prove(deps: AuthDeps, access: readonly Access[], claim: Claim): Actor | Promise<Actor> {
  if (isUnsigned(access)) return { kind: "visitor" };
  const { app, user } = claim;
  if (user.token !== undefined && asksOwnToken(access)) return proveOwnToken(deps, claim);
  const failures: AppError[] = [];
  if (app && "error" in app) failures.push(app.error);
  try {
    const proved = app && "value" in app && proveApp(deps, app.value, claim);
    // What anyone may do is the user's, whose token the key only passes on; and where that is wrong, they have to know.
    if (proved && !(isOpen(access) && user.token !== undefined)) return proved;
  } catch (error) {
    failures.push(requireVerdict(error));
  }
  try {
    const credentials = tokenCredentialsOf(user, app !== null);
    if (credentials) {
      return proveToken(deps, claim.tenant, credentials).catch((error) => {
        throw verdictOf([...failures, requireVerdict(error)]);
      });
    }
  } catch (error) {
    failures.push(requireVerdict(error));
  }
  if (failures.length > 0) throw verdictOf(failures);
  if (isOpen(access)) return { kind: "visitor" };
  throw notAuthenticated("No credentials were sent.");
}

function proveApp(deps: AuthDeps, sent: AppCredentials, { key, tenant, origin }: Claim): Actor {
  const now = deps.now();
  const hash = Bun.SHA256.hash(sent.appSecret) as Uint8Array;
  const secret = key?.secrets.find((known) => sameHash(known.hash, hash) && known.expiresAt > now);
  const holds = key && secret && key.usable && key.tenantId === tenant.id && key.expiresAt > now;
  // One reply for all of these: it must not tell which part was right.
  if (!holds) throw appAuthFailed();
  const verdict = judgeOrigin(key, origin);
  if (!verdict.allowed) {
    deps.memory.rejections.note(key.appId, origin, now);
    throw appAuthFailed(verdict.reason, { remedy: originRemedy });
  }
  deps.noteUse(secret, now);
  return { kind: "app", appId: key.appId, scopes: key.scopes };
}

async function proveToken(deps: AuthDeps, tenant: Tenant, sent: TokenCredentials): Promise<Actor> {
  return { kind: "user", ...(await judgeToken(deps, { tenantId: tenant.id, ...sent })) };
}

/** Refresh and logout tell apart only what was not sent; whatever else is wrong, the user has to log in again. */
async function proveOwnToken(deps: AuthDeps, { tenant, user }: Claim): Promise<Actor> {
  const sent = tokenCredentialsOf(user, false) as TokenCredentials;
  try {
    return await proveToken(deps, tenant, sent);
  } catch (error) {
    throw userTokenInvalid(undefined, { cause: requireVerdict(error) });
  }
}

function verdictOf([first, second]: AppError[]): AppError {
  return second ? notAuthenticated("Several methods were sent and none succeeded.") : (first as AppError);
}

function requireVerdict(error: unknown): AppError {
  // unavailable and bugs are not a verdict on credentials; they go up as they are.
  if (error instanceof AppError && countedKinds.has(error.kind)) return error;
  throw error;
}

/** A call without any credentials tries nothing, so it is answered notAuthenticated for as long as it likes. */
function hasAttempted({ app, user }: Claim): boolean {
  return app !== null || user.token !== undefined || user.user_id !== undefined;
}
