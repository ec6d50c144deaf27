import { and, sql } from "drizzle-orm";
import type { Ctx } from "../../context.ts";
import { pick } from "../../db/selection.ts";
import { createPurge, equals, get, ofStore, param, params, run, statement } from "../../db/statement.ts";
import { inTransaction } from "../../db/transaction.ts";
import { AppError, idempotencyKeyReused } from "../../errors.ts";
import { toTimestamp } from "../../values/stamps.ts";
import { idempotencyKeys } from "./table.ts";

/** How long a reply is stored, in milliseconds. Once the reply is purged, its key can be used again. */
export const keptMs = 24 * 3_600_000;

const { caller, key } = idempotencyKeys;
const kept = pick(idempotencyKeys, "fingerprint", "status", "data", "etag", "language");
const isOfKey = and(ofStore(idempotencyKeys), equals(caller, "caller"), equals(key, "key"));
const selectReply = statement((q) => q.select(kept).from(idempotencyKeys).where(isOfKey));
const reply = params("tenantId", "caller", "key", "fingerprint", "status", "data", "etag", "language");
const keepReply = statement((q) => q.insert(idempotencyKeys).values({ ...reply, createdAt: param("now") }));

/** The stored part of a reply; `json` is the text of its `data`. `isReplay` means that an earlier request stored it. */
export interface StoredReply {
  status: number;
  json: string;
  version?: number;
  language?: string;
  isReplay?: boolean;
}

export interface KeyedRequest {
  caller: string;
  key: string;
  fingerprint: string;
}

/**
 * Runs the work of a request for which `findReply` found no reply, and stores the reply in the same transaction. A
 * failed request stores nothing, so it can run again.
 * @param work must await nothing but the database of the context that it gets.
 * @throws idempotencyKeyReused if another request used the key; errors of the work.
 */
export async function answerOnce(ctx: Ctx, request: KeyedRequest, work: (tx: Ctx) => Promise<StoredReply>) {
  try {
    return await inTransaction(ctx, async (tx) => {
      const answer = await work(tx);
      const { status, json: data, version: etag = null, language = null } = answer;
      const { fingerprint } = request;
      const now = toTimestamp(tx.now());
      await run(tx.db, keepReply, { ...keyOf(ctx, request), fingerprint, status, data, etag, language, now });
      return answer;
    });
  } catch (error) {
    // A database that did not answer in time would not answer `findReply` either.
    if (error instanceof AppError && error.kind === "unavailable") throw error;
    // Of two concurrent requests with one key, the second fails, and then returns the reply that the first has stored.
    const kept = await findReply(ctx, request);
    if (kept) return kept;
    throw error;
  }
}

/** Returns the stored reply to a request, if any. Errors: idempotencyKeyReused if another request used the key. */
export async function findReply(ctx: Ctx, request: KeyedRequest): Promise<StoredReply | undefined> {
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
