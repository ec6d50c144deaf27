import type { Actor } from "../context.ts";
import { type State, successText } from "../http/envelope.ts";
import type { Call, Route } from "../http/route.ts";
import { chooseCoding, compress } from "./compression.ts";

/** A request of a route. */
export interface Arrived {
  request: Request;
  requestId: string;
  route: Route;
}

/**
 * Answers a read of the catalogue. A client that sends the `ETag` of what it has gets 304 if that is still right, and
 * the reply is not read then.
 * @param common the headers of every reply.
 */
export async function answerRead(
  { version: release }: { version: string },
  { request, requestId, route }: Arrived,
  call: Call,
  common: Record<string, string>,
): Promise<Response> {
  const headers = { ...common, "Cache-Control": "private, no-cache", Vary: "Accept-Encoding, Authorization, Origin" };
  const tags = request.headers.get("if-none-match");
  const present = tags === null ? undefined : await route.readState?.(call as never);
  if (tags !== null && present) {
    const ETag = entityTag(call, present, release);
    if (isListed(tags, ETag)) return new Response(null, { status: 304, headers: { ...headers, ETag } });
  }
  const answer = await route.handle(call as never, undefined as never);
  const { state = "", version } = answer;
  const described: Record<string, string> = { ...headers, ETag: entityTag(call, { state, version }, release) };
  const text = successText(requestId, answer, described);
  const coding = chooseCoding(request.headers.get("accept-encoding"), text);
  if (coding === undefined) return new Response(text, { headers: described });
  described["Content-Encoding"] = coding;
  return new Response(await compress(text, coding), { headers: described });
}

/** Counts of views change all the time, so a tag ignores them for up to a minute. */
const countsMs = 60_000;

/**
 * The weak `ETag` of a reply that shows this state to this caller: weak, because each reply has its own request id. It
 * begins with the record's version, for `If-Match`, or with 0 for a list.
 * @param release the program's version, because another one may show the same state in another way.
 */
function entityTag({ ctx, params, query, lang }: Call, { state, version = 0 }: State, release: string): string {
  const { tenant, actor } = ctx;
  const minute = Math.floor(ctx.now() / countsMs);
  const asked = `${JSON.stringify([params, query, lang])}\n${tenant.id}\n${tenant.language}\n${describeCaller(actor)}`;
  // One text: an array of these would take twice the time. None of them has a line break.
  const hash = Bun.hash(`${release}\n${state}\n${minute}\n${asked}`) as bigint;
  return `W/"${version}.${hash.toString(36).padStart(13, "0")}"`;
}

/** All on which a reply may depend: two keys may see different parts of a record. */
function describeCaller(actor: Actor): string {
  if (actor.kind === "app") return `${actor.appId} ${actor.isWeb} ${[...actor.scopes].join()}`;
  return actor.kind === "user" ? `${actor.userId} ${actor.role}` : actor.kind;
}

/** Whether `If-None-Match` lists a tag, in any form (RFC 9110, section 13.1.2). */
function isListed(header: string, tag: string): boolean {
  const opaque = tag.slice("W/".length);
  return header.trim() === "*" || header.split(",").some((one) => one.trim().replace(/^W\//, "") === opaque);
}
