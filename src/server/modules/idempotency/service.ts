import { sql } from "drizzle-orm";
import type { Ctx } from "../../context.ts";
import { createPurge } from "../../db/purge.ts";
import { bind, get, param, statement } from "../../db/statement.ts";
import { inTransaction } from "../../db/transaction.ts";
import { idempotencyKeyReused } from "../../errors.ts";
import { toTimestamp } from "../../values/timestamp.ts";
import { idempotencyKeys } from "./table.ts";

/** How long a reply is kept, in milliseconds. Its key can be used again once it is purged. */
export const keptMs = 24 * 3_600_000;

const selectReply = statement<
  Pick<typeof idempotencyKeys.$inferSelect, "fingerprint" | "status" | "data" | "etag" | "language">
>(sql`
  select fingerprint, status, data, etag, language from ${idempotencyKeys}
  where tenant_id = ${param("tenantId")} and caller = ${param("caller")} and key = ${param("key")}`);
const keepReply = statement(sql`
  insert into ${idempotencyKeys} (tenant_id, caller, key, fingerprint, status, data, etag, language, created_at)
  values (${param("tenantId")}, ${param("caller")}, ${param("key")}, ${param("fingerprint")}, ${param("status")},
    ${param("data")}, ${param("etag")}, ${param("language")}, ${param("now")})`);

/** The kept part of a reply; `json` is the text of its `data`. `isReplay`: it answered an earlier request. */
export interface KeptReply {
  status: number;
  json: string;
  version?: number;
  language?: string;
  isReplay?: boolean;
}

/** A request that may be sent again: its caller, its key, and a hash of its content. */
export interface KeyedRequest {
  /** `app:app_…` or `user:usr_…`; each caller has keys of its own. */
  caller: string;
  key: string;
  fingerprint: string;
}

/**
 * Runs a request's work once for its key. The work and its kept reply are one transaction. A repeated request gets the
 * kept reply; a request that failed stored nothing, so it runs again.
 * @param work must await nothing but the database of the context that it gets.
 * @throws idempotencyKeyReused when the key was used for another request; errors of the work.
 */
export function answerOnce(ctx: Ctx, request: KeyedRequest, work: (tx: Ctx) => Promise<KeptReply>): Promise<KeptReply> {
  // Write transactions run one after another, so a second request finds the row of the first.
  return inTransaction(ctx, async (tx) => {
    const kept = await findReply(tx, request);
    if (kept) return kept;
    const reply = await work(tx);
    const row = {
      ...keyOf(tx, request),
      fingerprint: request.fingerprint,
      status: reply.status,
      data: reply.json,
      etag: reply.version ?? null,
      language: reply.language ?? null,
      now: toTimestamp(tx.now()),
    };
    await tx.db.batch([bind(keepReply, row)], "last");
    return reply;
  });
}

/**
 * The stored reply to a request, if there is one. It only saves costly preparations: `answerOnce` checks again.
 * @throws idempotencyKeyReused when the key was used for another request.
 */
export async function findReply(ctx: Ctx, request: KeyedRequest): Promise<KeptReply | undefined> {
  const row = await get(ctx.db, selectReply, keyOf(ctx, request));
  if (!row) return undefined;
  if (row.fingerprint !== request.fingerprint) throw idempotencyKeyReused();
  const { status, data, etag, language } = row;
  return {
    status,
    json: data,
    isReplay: true,
    ...(etag !== null && { version: etag }),
    ...(language !== null && { language }),
  };
}

export const purgeReplies = createPurge(idempotencyKeys, sql`created_at <= ${param("before")}`, keptMs);

function keyOf(ctx: Ctx, { caller, key }: KeyedRequest) {
  return { tenantId: ctx.tenant.id, caller, key };
}
