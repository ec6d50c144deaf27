import { sql } from "drizzle-orm";
import { toTimestamp } from "../../clock.ts";
import type { Ctx } from "../../context.ts";
import { run, statement } from "../../db/statement.ts";
import { newId } from "../../ids.ts";
import { events } from "./table.ts";
import type { EventType } from "./types.ts";

const param = sql.placeholder;

const insertEvent = statement(sql`
  insert into ${events} (id, tenant_id, type, subject, data, created_at)
  values (${param("id")}, ${param("tenantId")}, ${param("type")}, ${param("subject")}, ${param("data")}, ${param("now")})`);

/**
 * Writes down a change, for the feed and the webhooks. Call it inside the transaction of the change: then both stand,
 * or neither.
 * @param event `subject` is the id of the record; `data` holds no personal data and no secrets.
 */
export async function recordEvent(
  ctx: Pick<Ctx, "db" | "tenant" | "now">,
  event: { type: EventType; subject: string; data: Record<string, unknown> },
): Promise<void> {
  await run(ctx.db, insertEvent, {
    id: newId("evt"),
    tenantId: ctx.tenant.id,
    type: event.type,
    subject: event.subject,
    data: JSON.stringify(event.data),
    now: toTimestamp(ctx.now()),
  });
}
