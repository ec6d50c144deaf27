import type { Actor } from "../context.ts";
import { bodyOf, type State, successResponse, successText } from "../http/envelope.ts";
import type { Call, Route } from "../http/route.ts";
import { withPublicUrls } from "../modules/media/model.ts";
import { parseIfMatch } from "./check-input.ts";
import { chooseCoding, compress } from "./compression.ts";
import { answerIdempotently, successStatus } from "./idempotency.ts";

export interface RouteRequest {
  request: Request;
  requestId: string;
  route: Route;
  /** From the path, not yet validated. */
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
  const shown = { ...answer, json: withPublicUrls(answer.json, publicUrl) };
  return successResponse(requestId, shown, successStatus(route, answer), headers);
}

/** Answers a read of the catalogue. If the client's `ETag` is current, the reply is 304, and no document is read. */
export async function answerRead(
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

/** Views change all the time, so tags ignore them for up to a minute. */
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

/** Two keys may see different parts of a record. */
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
