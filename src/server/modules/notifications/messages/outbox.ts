import { type SQL, sql } from "drizzle-orm";
import type { Ctx } from "../../../context.ts";
import { type CompiledStatement, param, run, statement } from "../../../db/statement.ts";
import { newId } from "../../../values/ids.ts";
import { toTimestamp } from "../../../values/timestamp.ts";
import { pushMessages, pushRegistrations } from "../table.ts";
import type { MessageInput } from "./message-model.ts";
import type { Recipients } from "./recipients.ts";

export type MessageContent = Pick<MessageInput, "title" | "body" | "url" | "data">;

const columns = sql.raw("id, tenant_id, kind, content, topic, user_id, lang, position, created_at, expires_at");
const insertMessage = statement(sql`
  insert into ${pushMessages} (${columns})
  values (${param("id")}, ${param("tenantId")}, 'message', ${param("content")}, ${param("topic")}, ${param("userId")},
    ${param("lang")}, '', ${param("now")}, ${param("expiresAt")})`);

/**
 * Puts a message into the outbox, from which a server sends it once the transaction is committed. Returns its id.
 * @param message `expiresAt` in epoch milliseconds.
 */
export async function queueMessage(
  tx: Pick<Ctx, "db" | "tenant" | "now">,
  message: Recipients & { content: MessageContent; expiresAt: number },
): Promise<string> {
  const id = newId("msg");
  await run(tx.db, insertMessage, {
    ...message,
    id,
    tenantId: tx.tenant.id,
    content: JSON.stringify(message.content),
    now: toTimestamp(tx.now()),
    expiresAt: toTimestamp(message.expiresAt),
  });
  return id;
}

/**
 * A statement that queues a notification to one user, for a batch in the transaction of a change; it writes nothing for a
 * user without devices. Its parameters are `messageId`, `now`, `expiresAt` and those of `notice`.
 * @param notice a `select` of one row or none: `tenant_id`, `user_id` and `content`, a JSON text.
 */
export function compileNotice(notice: SQL): CompiledStatement<never> {
  return statement<never>(sql`
    insert into ${pushMessages} (${columns})
    select ${param("messageId")}, n.tenant_id, 'order', n.content, null, n.user_id, null, '', ${param("now")},
      ${param("expiresAt")}
    from (${notice}) n where exists(select 1 from ${pushRegistrations} r where r.user_id = n.user_id)`);
}
