import type { Actor, Ctx } from "../context.ts";
import { malformedRequest } from "../errors.ts";
import { successResponse } from "../http/envelope.ts";
import type { Call, Reply, Route } from "../http/route.ts";
import { answerOnce, findReply, type KeyedRequest } from "../modules/idempotency/service.ts";
import { withPublicUrls } from "../modules/media/model.ts";
import { hasScope } from "../security/scopes.ts";
import { parseIfMatch } from "./check-input.ts";

export interface RouteRequest {
  request: Request;
  requestId: string;
  route: Route;
  params: Record<string, string>;
}

export async function answerCall(
  { publicUrl }: { publicUrl?: string | undefined },
  { request, requestId, route }: RouteRequest,
  call: Call,
  headers: Record<string, string>,
): Promise<Response> {
  const { headers: asked } = request;
  const ifMatch = route.conditional ? parseIfMatch(asked.get("if-match")) : null;
  const answer = await (route.method === "GET"
    ? route.handle(call as never, undefined as never)
    : answerIdempotently(route, { ...call, ifMatch }, asked.get("idempotency-key")).catch((error: unknown) => {
        if (route.onError) return route.onError(call.ctx, error);
        throw error;
      }));
  const json = route.complete?.(call.ctx, answer.json) ?? answer.json;
  const shown = { ...answer, json: withPublicUrls(json, publicUrl) };
  return successResponse(requestId, shown, successStatus(route, answer), headers);
}

const keyForm = /^[\x21-\x7e]{1,255}$/;
/** Minimum length of a page's idempotency key, so that visitors, who share the page's app key, cannot guess one. */
const minPageKey = 22;

/** Whether a route supports `Idempotency-Key`: POST routes do, except those with secrets. */
export function takesKey({ method, path, secret }: Route): boolean {
  return method === "POST" && !path.startsWith("/auth/") && secret !== true;
}

function successStatus(route: Route, answer: Reply): number {
  return answer.status ?? route.reply.status ?? 200;
}

/**
 * With an `Idempotency-Key`, the handler runs at most once, in one transaction with the stored reply.
 * @throws malformedRequest for a malformed key, idempotencyKeyReused if another request used it; errors of the handler.
 */
async function answerIdempotently(route: Route, call: Call, header: string | null): Promise<Reply> {
  const caller = callerOf(call.ctx);
  const key = takesKey(route) ? header : null;
  if (key !== null && !keyForm.test(key)) {
    throw malformedRequest("Idempotency-Key must be 1 to 255 visible ASCII characters.");
  }
  if (key !== null && key.length < minPageKey && isPageKey(call.ctx.actor)) {
    throw malformedRequest(`Idempotency-Key of a page must have at least ${minPageKey} characters.`);
  }
  if (key === null || caller === null || call.query.dry_run === true) {
    return route.handle(call as never, await route.prepare?.(call as never));
  }
  const request: KeyedRequest = { caller, key, fingerprint: fingerprintOf(route, call) };
  const kept = await findReply(call.ctx, request);
  if (kept) return kept;
  const prepared = await route.prepare?.(call as never);
  return answerOnce(call.ctx, request, async (tx) => {
    const answer = await route.handle({ ...call, ctx: tx } as never, prepared);
    return { ...answer, status: successStatus(route, answer) };
  });
}

function isPageKey(actor: Actor): boolean {
  return actor.kind === "app" && hasScope(actor.scopes, "orders:place") && !hasScope(actor.scopes, "orders:write");
}

/**
 * Returns the owner of an idempotency key; null for visitors, who cannot be distinguished. The owner includes the token
 * of an order, because a stored reply may contain data that requires the token.
 */
function callerOf({ actor, orderToken, vault }: Ctx): string | null {
  const buyer = orderToken === undefined ? "" : `:${vault.mac("idempotency", orderToken)}`;
  if (actor.kind === "app") return `app:${actor.appId}${buyer}`;
  return actor.kind === "user" ? `user:${actor.userId}` : null;
}

/** Returns a keyed hash of the request. From a plain hash, somebody could guess a password in the body. */
function fingerprintOf({ method, path }: Route, { ctx, params, query, body, lang, subject }: Call): string {
  const sent = body instanceof Uint8Array ? new Bun.CryptoHasher("sha256").update(body).digest("hex") : body;
  const asked = { method, path, params, query, body: sent, lang, subject };
  return ctx.vault.mac("idempotency", JSON.stringify(asked, sortMembers));
}

function sortMembers(_name: string, value: unknown): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
}
