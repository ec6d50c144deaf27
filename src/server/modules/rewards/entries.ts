import type { InStatement } from "@libsql/core/api";
import { sql } from "drizzle-orm";
import type { Ctx } from "../../context.ts";
import { bind, param, statement } from "../../db/statement.ts";
import { toTimestamp } from "../../values/stamps.ts";
import { rewardEntries } from "./table.ts";

/** Prefixes of sources. With them, the sources of customers, of the store and of the program cannot be equal. */
export const customerPrefix = "customer:";
export const storePrefix = "store:";
export const ownPrefix = "entry:";

export const entryJson = sql.raw(`json_object('id', id, 'user_id', user_id, 'kind', kind, 'points', points,
  'balance', balance, 'source', case substr(source, 1, instr(source, ':')) when '${ownPrefix}' then null
    when '${customerPrefix}' then substr(source, ${customerPrefix.length + 1})
    when '${storePrefix}' then substr(source, ${storePrefix.length + 1}) else source end,
  'order_id', order_id, 'note', note, 'created_at', created_at)`);

export type LedgerCtx = Pick<Ctx, "db" | "tenant" | "now">;

interface Entries {
  userId: string;
  kind: "earn" | "redeem" | "reverse" | "expire" | "adjust";
  /** Points are negative if the entry reduces the balance. Only `insertLots` reads `more`. */
  rows: readonly (readonly [id: string, points: number, balance: number, source: string, ...more: unknown[]])[];
  orderId?: string | undefined;
  note?: string | null | undefined;
  /** If an order spends points: the lots from which they come, as JSON. */
  lots?: string | null;
}

const insertEntries = statement(sql`
  insert into ${rewardEntries} (id, tenant_id, user_id, kind, points, balance, source, order_id, note, lots, created_at)
  select json_extract(value, '$[0]'), ${param("tenantId")}, ${param("userId")}, ${param("kind")},
    json_extract(value, '$[1]'), json_extract(value, '$[2]'), json_extract(value, '$[3]'), ${param("orderId")},
    ${param("note")}, ${param("lots")}, ${param("now")}
  from json_each(${param("rows")}) order by key`);

export function writeEntries(tx: LedgerCtx, entries: Entries): InStatement {
  const { orderId = null, note = null, lots = null, userId, kind } = entries;
  const row = { tenantId: tx.tenant.id, userId, kind, orderId, note, lots, now: toTimestamp(tx.now()) };
  return bind(insertEntries, { ...row, rows: JSON.stringify(entries.rows) });
}
