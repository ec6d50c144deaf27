import type { InStatement } from "@libsql/core/api";
import { type SQL, sql } from "drizzle-orm";
import type { Ctx, WorkCtx } from "../../context.ts";
import { bind, type CompiledStatement, param, run, statement } from "../../db/statement.ts";
import { newId } from "../../values/ids.ts";
import { toTimestamp } from "../../values/timestamp.ts";
import { events } from "./table.ts";
import type { EventType } from "./types.ts";

const insertEvent = statement(sql`
  insert into ${events} (id, tenant_id, type, subject, data, created_at)
  values (${param("id")}, ${param("tenantId")}, ${param("type")}, ${param("subject")}, ${param("data")}, ${param("now")})`);

/** An event to record. `subject` is the id of the record; `data` has no personal data and no secrets. */
interface NewEvent {
  type: EventType;
  subject: string;
  data: Record<string, unknown>;
}

/** Records an event for the feed and webhooks. Call it inside the transaction of the change. */
export async function recordEvent(ctx: Pick<Ctx, "db" | "tenant" | "now">, event: NewEvent): Promise<void> {
  await ctx.db.execute(bindEvent(ctx, event));
}

/** The statement that `recordEvent` runs, for a batch with the change itself. */
export function bindEvent(ctx: Pick<Ctx, "tenant" | "now">, event: NewEvent): InStatement {
  return bind(insertEvent, {
    id: newId("evt"),
    tenantId: ctx.tenant.id,
    type: event.type,
    subject: event.subject,
    data: JSON.stringify(event.data),
    now: toTimestamp(ctx.now()),
  });
}

/**
 * A statement that records an event about the row it reads, with `eventId`, `now` and the parameters of its parts.
 * @param event `data` is SQL of a JSON text, `from` the rest of a `select` of one row that has a `tenant_id`.
 */
export function compileEvent(event: { type: SQL; subject: SQL; data: SQL; from: SQL }): CompiledStatement<never> {
  return statement<never>(sql`
    insert into ${events} (id, tenant_id, type, subject, data, created_at)
    select ${param("eventId")}, tenant_id, ${event.type}, ${event.subject}, ${event.data}, ${param("now")} ${event.from}`);
}

const dayMs = 86_400_000;
const retentionMs = 30 * dayMs;
/** Maximum retention of events that a webhook has not delivered yet. */
const maxRetentionMs = 60 * dayMs;

// The tables of webhooks are not imported, because webhooks import this module. A store's newest event stays, because
// readers of the feed continue from it.
const deleteOld = statement(sql`
  delete from ${events} where sequence in (select sequence from ${events} e where e.created_at <= ${param("before")}
    and exists (select 1 from ${events} n where n.tenant_id = e.tenant_id and n.sequence > e.sequence)
    and (e.created_at <= ${param("longBefore")} or not exists (
      select 1 from webhooks w where w.tenant_id = e.tenant_id and (w.position < e.sequence or exists (
        select 1 from webhook_deliveries d
        where d.webhook_id = w.id and d.event = e.sequence and d.status = 'waiting'))))
    order by e.created_at limit 1000)`);

/** Deletes up to a thousand events older than 30 days, or 60 if a webhook still needs them. Returns how many. */
export function purgeEvents(ctx: WorkCtx): Promise<number> {
  const before = toTimestamp(ctx.now() - retentionMs);
  return run(ctx.db, deleteOld, { before, longBefore: toTimestamp(ctx.now() - maxRetentionMs) });
}
