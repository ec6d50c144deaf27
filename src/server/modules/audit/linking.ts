import type { InStatement } from "@libsql/core/api";
import { sql } from "drizzle-orm";
import type { Result } from "../../db/session.ts";
import { bind, param, rowsOf, statement } from "../../db/statement.ts";
import { type AuditFacts, auditColumns, hashRow } from "./service.ts";
import { auditLog } from "./table.ts";

const lastLinked = sql`from ${auditLog} where hash <> '' order by seq desc limit 1`;
// Rows without a hash are the newest, so neither select scans the log.
const selectAdded = statement<AuditFacts & { seq: number; previous: string | null }>(sql`
  select seq, ${auditColumns}, (select hash ${lastLinked}) as previous
  from ${auditLog} where seq > coalesce((select seq ${lastLinked}), 0) order by seq`);
const setHash = statement(sql`update ${auditLog} set hash = ${param("hash")} where seq = ${param("seq")}`);

/** Links new rows of the audit log, before their COMMIT: each gets a hash over itself and the hash of the row before it. */
export const auditLinking = {
  get read() {
    return bind(selectAdded);
  },
  finish(result: Result | undefined): InStatement[] {
    let previous: string | undefined;
    return rowsOf(selectAdded, result).map((row) => {
      previous = hashRow(previous ?? row.previous ?? "", row);
      return bind(setHash, { seq: row.seq, hash: previous });
    });
  },
};
