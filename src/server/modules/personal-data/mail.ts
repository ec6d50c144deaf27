import { sql } from "drizzle-orm";
import type { Ctx } from "../../context.ts";
import { all, param, statement } from "../../db/statement.ts";
import { emailKey } from "../../values/email.ts";
import { addressIn, openContents } from "../mail/outbox.ts";
import { mailOutbox } from "../mail/table.ts";

const selectSealed = statement<{ id: string; kind: string; status: string; created_at: string; sealed: string }>(sql`
  select id, kind, status, created_at, sealed from ${mailOutbox}
  where tenant_id = ${param("tenantId")} and sealed is not null`);

/** The mail to an address whose contents are still kept: it waits, or has failed. */
export async function findMailTo(ctx: Ctx, key: string) {
  const rows = await all(ctx.db, selectSealed, { tenantId: ctx.tenant.id });
  return rows.flatMap(({ sealed, ...mail }) => {
    const contents = openContents(ctx.vault, mail.id, sealed);
    return contents !== null && emailKey(addressIn(contents)) === key ? [mail] : [];
  });
}
