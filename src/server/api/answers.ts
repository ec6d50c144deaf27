import type { Actor } from "../context.ts";
import { malformedRequest } from "../errors.ts";
import { bodyOf, successResponse, successText } from "../http/envelope.ts";
import type { Call, Reply, Route, State } from "../http/route.ts";
import { answerOnce, findReply, type KeyedRequest } from "../modules/idempotency/service.ts";
import { withPublicUrls } from "../modules/media/model.ts";
import { hasScope } from "../security/scopes.ts";
import { parseIfMatch } from "./check-input.ts";
import { chooseCoding, compress } from "./compression.ts";

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
    : answerIdempotently(route, { ...call, ifMatch }, asked.get("idempotency-key")));
  const json = route.complete?.(call.ctx, answer.json) ?? answer.json;
  const shown = { ...answer, json: withPublicUrls(json, publicUrl) };
  return successResponse(requestId, shown, successStatus(route, answer), headers);
}

/** Answers a read of the catalogue. If the client's `ETag` is current, the reply is 304, and no document is read. */
export async function answerWithEtag(
  { version, publicUrl = "" }: { version: string; publicUrl?: string | undefined },
  { request, requestId, route }: RouteRequest,
  call: Call,
  headers: Record<string, string>,
): Promise<Response> {
  const release = version + publicUrl;
  headers["Cache-Control"] = "private, no-cache";
  headers.Vary = "Accept-Encoding, Authorization, Origin";
  const tags = request.headers.get("if-none-match");
  const present = tags === null ? undefined : await route.readEtagSource?.(call as never);
  if (tags !== null && present) {
    headers.ETag = entityTag(call, present, release);
    if (isListed(tags, headers.ETag)) return new Response(null, { status: 304, headers });
  }
  const answer = await route.handle(call as never, undefined as never);
  const { state = "" } = answer;
  headers.ETag = entityTag(call, { state, version: answer.version }, release);
  const text = withPublicUrls(successText(requestId, answer, headers), publicUrl);
  const coding = chooseCoding(request.headers.get("accept-encoding"), text);
  if (coding === undefined) return new Response(bodyOf(text), { headers });
  headers["Content-Encoding"] = coding;
  return new Response(await compress(text, coding), { headers });
}

/** Counts of views change all the time, so ETags ignore them for up to a minute. */
const countsMs = 60_000;

/**
 * The tag is weak, because each reply has its own request id. It begins with the record's version, or 0 for a list.
 * @param release the program's version and public URL, which also affect the reply.
 */
function entityTag({ ctx, params, query, lang }: Call, { state, version = 0 }: State, release: string): string {
  const { tenant, actor } = ctx;
  const minute = Math.floor(ctx.now() / countsMs);
  const named = `${Object.values(params)}\n${JSON.stringify(query)}\n${lang}`;
  const asked = `${named}\n${tenant.id}\n${tenant.language}\n${describeCaller(actor)}`;
  const hash = Bun.hash(`${release}\n${state}\n${minute}\n${asked}`) as bigint;
  return `W/"${version}.${hash.toString(36).padStart(13, "0")}"`;
}

const scopeHashes = new WeakMap<ReadonlySet<string>, string>();

/** The ETag depends on the caller, because two keys may see different parts of a record. */
function describeCaller(actor: Actor): string {
  if (actor.kind !== "app") return actor.kind === "user" ? `${actor.userId} ${actor.role}` : actor.kind;
  const scopes = scopeHashes.get(actor.scopes) ?? Bun.hash([...actor.scopes].join()).toString(36);
  scopeHashes.set(actor.scopes, scopes);
  return `${actor.appId} ${actor.isWeb} ${scopes}`;
}

/** Accepts any form of `If-None-Match` (RFC 9110, section 13.1.2). */
function isListed(header: string, tag: string): boolean {
  const opaque = tag.slice("W/".length);
  return header.trim() === "*" || header.split(",").some((one) => one.trim().replace(/^W\//, "") === opaque);
}

const keyForm = /^[\x21-\x7e]{1,255}$/;
/** All visitors of a page are one caller, so their keys must not be guessable. */
const minPageKey = 22;

/** POST routes support `Idempotency-Key`, except those with secrets. */
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
  const caller = callerOf(call.ctx.actor);
  if (header !== null && takesKey(route) && !keyForm.test(header)) {
    throw malformedRequest("Idempotency-Key must be 1 to 255 visible ASCII characters.");
  }
  if (header !== null && header.length < minPageKey && takesKey(route) && isPageKey(call.ctx.actor)) {
    throw malformedRequest(`Idempotency-Key of a page must have at least ${minPageKey} characters.`);
  }
  if (header === null || caller === null || !takesKey(route) || call.query.dry_run === true) {
    return route.handle(call as never, await route.prepare?.(call as never));
  }
  const request: KeyedRequest = { caller, key: header, fingerprint: fingerprintOf(route, call) };
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

/** Null for visitors, because they cannot be distinguished. */
function callerOf(actor: Actor): string | null {
  if (actor.kind === "app") return `app:${actor.appId}`;
  return actor.kind === "user" ? `user:${actor.userId}` : null;
}

/** The fingerprint is keyed, because a plain hash of a body with a password could be guessed. */
function fingerprintOf({ method, path }: Route, { ctx, params, query, body, lang, subject }: Call): string {
  const sent = body instanceof Uint8Array ? new Bun.CryptoHasher("sha256").update(body).digest("hex") : body;
  const asked = { method, path, params, query, body: sent, lang, subject };
  return ctx.vault.mac("idempotency", JSON.stringify(asked, sortMembers));
}

function sortMembers(_name: string, value: unknown): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
}
