import { sql } from "drizzle-orm";

/** What stands before a source that a caller gave, so that nobody books under a source of our own. */
export const givenPrefix = "given:";
/** What stands before the source of an entry that has none but itself. */
export const ownPrefix = "entry:";

/** SQL for a row of the ledger as JSON text, in the order of the API. */
export const entryJson = sql.raw(`json_object('id', id, 'user_id', user_id, 'kind', kind, 'points', points,
  'balance', balance, 'source', case substr(source, 1, 6) when '${givenPrefix}' then substr(source, 7)
    when '${ownPrefix}' then null else source end,
  'order_id', order_id, 'note', note, 'created_at', created_at)`);
