import { isCatalogOnly } from "../context.ts";
import type { Database } from "../db/session.ts";
import { bodyOf, successText } from "../http/envelope.ts";
import type { Call, Route, State } from "../http/route.ts";
import { withPublicUrls } from "../modules/media/model.ts";
import type { RouteRequest } from "./answers.ts";
import { chooseCoding, compress } from "./compression.ts";
import { KeptTail } from "./kept-tail.ts";
import type { KeptReply, ReplyCache } from "./reply-cache.ts";

interface ReadDeps {
  version: string;
  publicUrl?: string | undefined;
  db: Database;
  replies: ReplyCache;
}

interface Read {
  tenantId: string;
  /** Names all inputs of the reply except the database. Until the database changes, equal names get equal replies. */
  name: string;
  minute: number;
  /** The commit counter, read before the rows, so that a later commit changes it; null for a database server. */
  commits: number | null;
  stateNow: () => Promise<State | undefined>;
}

/** How long an ETag ignores new counts of views, which change all the time. */
const countsMs = 60_000;

/**
 * Answers a read of the catalogue: with 304 if the client's `ETag` is current, with a kept reply if that is current,
 * otherwise from the database. Credentials, origin and permission were checked before.
 */
export async function answerWithEtag(
  { version, publicUrl = "", db, replies }: ReadDeps,
  { request, requestId, route }: RouteRequest,
  call: Call,
  headers: Record<string, string>,
): Promise<Response> {
  headers["Cache-Control"] = "private, no-cache";
  headers.Vary = "Accept-Encoding, Authorization, Origin";
  const read: Read = {
    tenantId: call.ctx.tenant.id,
    name: nameOf(route, call, version + publicUrl),
    minute: Math.floor(call.ctx.now() / countsMs),
    commits: db.dataVersion(),
    stateNow: async () => route.readEtagSource?.(call as never),
  };
  const tags = request.headers.get("if-none-match");
  const kept = await findCurrent(replies, read);
  const present = kept || tags === null ? kept : await read.stateNow();
  if (present) headers.ETag = kept?.etag ?? entityTag(read, present);
  if (tags !== null && headers.ETag !== undefined && isListed(tags, headers.ETag)) {
    return new Response(null, { status: 304, headers });
  }
  const head = `{"request_id":"${requestId}`;
  const accepted = request.headers.get("accept-encoding");
  if (kept) {
    if (kept.language !== undefined) headers["Content-Language"] = kept.language;
    const coding = chooseCoding(accepted, head.length + kept.tail.length);
    if (coding !== undefined) headers["Content-Encoding"] = coding;
    return new Response(bodyOf(await kept.tail.join(head, coding)), { headers });
  }
  const answer = await route.handle(call as never, undefined as never);
  const { state = "", version: recordVersion, language } = answer;
  headers.ETag = entityTag(read, { state, version: recordVersion });
  const text = withPublicUrls(successText(requestId, answer, headers), publicUrl);
  if (route.mayKeep?.(call.query as never) && replies.wants(read.name)) {
    const tail = new KeptTail(text.slice(head.length));
    const reply = { tail, etag: headers.ETag, state, version: recordVersion, language };
    await keep(replies, read, reply);
  }
  const coding = chooseCoding(accepted, text.length);
  if (coding === undefined) return new Response(bodyOf(text), { headers });
  headers["Content-Encoding"] = coding;
  return new Response(await compress(text, coding), { headers });
}

/** @param release the program's version and public URL, which also affect the reply. */
function nameOf({ id }: Route, { ctx, params, query, lang }: Call, release: string): string {
  const { tenant } = ctx;
  const asked = `${id}\n${Object.values(params)}\n${JSON.stringify(query)}\n${lang}`;
  return `${release}\n${tenant.id}\n${tenant.language}\n${isCatalogOnly(ctx)}\n${asked}`;
}

/**
 * Returns the kept reply if no commit followed it, or if the commits did not change its state. Likes and views are
 * not part of the state, so after a commit, the reply is valid only until its minute ends.
 */
async function findCurrent(replies: ReplyCache, read: Read): Promise<KeptReply | undefined> {
  const kept = replies.find(read.tenantId, read.name);
  if (kept === undefined) return undefined;
  const isUnchanged = kept.commits !== null && kept.commits === read.commits;
  const isOver = kept.minute !== read.minute && !(isUnchanged && kept.hasLatestCounts);
  if (isOver || (!isUnchanged && !isSame(kept, await read.stateNow()))) {
    replies.drop(read.tenantId, read.name);
    return undefined;
  }
  kept.commits = read.commits;
  kept.hasLatestCounts &&= isUnchanged;
  if (kept.minute !== read.minute) {
    kept.minute = read.minute;
    kept.etag = entityTag(read, kept);
  }
  return kept;
}

function isSame(kept: State, present: State | undefined): boolean {
  return kept.state === present?.state && kept.version === present.version;
}

/** Keeps a reply only if its state did not change while several statements read its rows. */
async function keep(
  replies: ReplyCache,
  { stateNow, tenantId, name, commits, minute }: Read,
  reply: Omit<KeptReply, "commits" | "minute" | "hasLatestCounts">,
) {
  if (!isSame(reply, await stateNow())) return;
  replies.keep(tenantId, name, { ...reply, commits, minute, hasLatestCounts: true });
}

/** Returns a tag that begins with the record's version; 0 for a list. The tag is weak, because request ids differ. */
function entityTag({ name, minute }: Read, { state, version = 0 }: State): string {
  const hash = Bun.hash(`${name}\n${state}\n${minute}`) as bigint;
  return `W/"${version}.${hash.toString(36).padStart(13, "0")}"`;
}

/** Accepts any form of `If-None-Match` (RFC 9110, section 13.1.2). */
function isListed(header: string, tag: string): boolean {
  const opaque = tag.slice("W/".length);
  return header.trim() === "*" || header.split(",").some((one) => one.trim().replace(/^W\//, "") === opaque);
}
