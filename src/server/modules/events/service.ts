import type { InStatement } from "@libsql/core/api";
import { type SQL, sql } from "drizzle-orm";
import type { Ctx } from "../../context.ts";
import { bind, type CompiledStatement, param, statement } from "../../db/statement.ts";
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
