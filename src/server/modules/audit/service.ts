import { sql } from "drizzle-orm";
import type { Ctx, SystemCtx } from "../../context.ts";
import { get, param, run, statement } from "../../db/statement.ts";
import { inTransaction } from "../../db/transaction.ts";
import { codeOf, type ErrorKind } from "../../errors.ts";
import { toTimestamp } from "../../values/timestamp.ts";
import { hashRow } from "./chain.ts";
import type { AuditEvent } from "./events.ts";
import { auditLog } from "./table.ts";

const selectLast = statement<{ hash: string }>(sql`select hash from ${auditLog} order by seq desc limit 1`);
const insertRow = statement(sql`
  insert into ${auditLog} (at, event, namespace, actor_kind, actor_id, subject, address, request_id, code, details, hash)
  values (${param("at")}, ${param("event")}, ${param("namespace")}, ${param("actor_kind")}, ${param("actor_id")},
    ${param("subject")}, ${param("address")}, ${param("request_id")}, ${param("code")}, ${param("details")},
    ${param("hash")})`);

/** An audited act; actor, time and address come from the context. */
export interface AuditEntry {
  event: AuditEvent;
  /** The id of the affected record. */
  subject?: string | undefined;
  /** Only for a context without a tenant. */
  namespace?: string | undefined;
  /** The error of a failed act. */
  error?: ErrorKind | undefined;
  /** Further facts; never a secret. */
  details?: Record<string, unknown> | undefined;
}

/**
 * Writes one row, chained to the last, in the transaction of the act, so that both are stored or neither; opens one
 * where there is none.
 */
export function recordAudit(
  ctx: Omit<SystemCtx, "vault"> & { tenant?: Ctx["tenant"] },
  entry: AuditEntry,
): Promise<void> {
  return inTransaction(ctx, async ({ db }) => {
    const row = {
      at: toTimestamp(ctx.now()),
      event: entry.event,
      namespace: ctx.tenant?.namespace ?? entry.namespace ?? null,
      actor_kind: ctx.actor.kind,
      actor_id: actorId(ctx.actor),
      subject: entry.subject ?? null,
      address: ctx.clientIp,
      request_id: ctx.requestId,
      code: entry.error === undefined ? null : codeOf(entry.error),
      details: entry.details === undefined ? null : JSON.stringify(entry.details),
    };
    const last = await get(db, selectLast);
    await run(db, insertRow, { ...row, hash: hashRow(last?.hash ?? "", row) });
  });
}

function actorId(actor: SystemCtx["actor"]): string | null {
  switch (actor.kind) {
    case "app":
      return actor.appId;
    case "user":
      return actor.userId;
    case "terminal":
      return actor.account ?? null;
    case "visitor":
    case "server":
      return null;
  }
}
