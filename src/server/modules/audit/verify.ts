import { sql } from "drizzle-orm";
import type { SystemCtx } from "../../context.ts";
import { migrations } from "../../db/migrate.ts";
import type { Executor } from "../../db/session.ts";
import { all, get, param, statement } from "../../db/statement.ts";
import { invalidField } from "../../errors.ts";
import { type AuditFacts, auditColumns, hashAddress, hashRow } from "./service.ts";
import { auditLog } from "./table.ts";

const pageSize = 1000;

type Row = AuditFacts & Record<"address" | "address_salt", string | null> & { seq: number; hash: string };

const selectPage = statement<Row>(sql`
  select seq, ${auditColumns}, hash
  from ${auditLog} where seq > ${param("after")} order by seq limit ${pageSize}`);
// The last `seq` that SQLite assigned, and the highest `seq` in the log. One statement reads both in one snapshot.
const selectCounts = statement<{ numbered: number | null; kept: number | null }>(sql`
  select (select seq from sqlite_sequence where name = 'audit_log') as numbered,
    (select max(seq) from ${auditLog}) as kept`);

export interface AuditVerdict {
  intact: boolean;
  rows: number;
  first: { seq: number; at: string } | null;
  /** The last valid row. A copy of its `seq` and hash elsewhere can later prove that nothing before it was changed. */
  last: { seq: number; at: string; hash: string } | null;
  broken_at?: number;
  problem?: string;
}

/**
 * Verifies the log from its first row: no row is missing, and each matches its hash and the previous row. Addresses are
 * verified unless they were erased. The last row is compared with SQLite's counter, because a hash chain does not show
 * that its end was cut off. The triggers must be unchanged. A person who can write the database file can forge a whole
 * chain. Only `expect`, a copy of the last hash that was kept elsewhere, reveals this.
 * @throws validationFailed for a malformed `expect`.
 */
export async function verifyAudit(ctx: SystemCtx, { expect }: { expect?: string } = {}): Promise<AuditVerdict> {
  const head = expect === undefined ? undefined : parseHead(expect);
  const { db } = ctx;
  const fault = await findSchemaFault(db);
  const verdict: AuditVerdict = { intact: true, rows: 0, first: null, last: null };
  if (fault === "no table") return { ...verdict, intact: false, problem: "The table audit_log is missing." };
  const broken = (broken_at: number, problem: string) => ({ ...verdict, intact: false, broken_at, problem });
  for await (const row of readRows(db)) {
    const problem = findRowFault(row, verdict, head);
    if (problem !== undefined) return broken(verdict.rows + 1, problem);
    verdict.rows = row.seq;
    verdict.first ??= { seq: row.seq, at: row.at };
    verdict.last = { seq: row.seq, at: row.at, hash: row.hash };
  }
  const counts = await get(db, selectCounts);
  const kept = counts?.kept ?? 0;
  if ((counts?.numbered ?? 0) !== kept) return broken(kept + 1, "The last rows are missing.");
  if (head !== undefined && head.seq > kept) return broken(kept + 1, "The log ends before the row given.");
  if (fault === undefined) return verdict;
  return { ...verdict, intact: false, problem: "The triggers that keep rows unchanged are missing." };
}

async function* readRows(db: Executor): AsyncGenerator<Row> {
  for (let after = 0; ; ) {
    const page = await all(db, selectPage, { after });
    yield* page;
    if (page.length < pageSize) return;
    after = page.at(-1)?.seq ?? after;
  }
}

function findRowFault(row: Row, { rows, last }: AuditVerdict, head: Head | undefined): string | undefined {
  if (row.seq !== rows + 1) return "The row is missing.";
  if (row.hash !== hashRow(last?.hash ?? "", row)) return "The row does not match its hash or the previous row.";
  const { address, address_salt, address_hash } = row;
  // An address is erased together with its salt. If only one of them is missing, the row was altered.
  const isErased = address === null && address_salt === null;
  if (!isErased && address_hash !== hashAddress(address_salt ?? "", address ?? "")) {
    return "The address does not match its hash.";
  }
  return head?.seq === row.seq && head.hash !== row.hash ? "The row has another hash than the one given." : undefined;
}

type Head = ReturnType<typeof parseHead>;

function parseHead(text: string) {
  const [, seq, hash = ""] = /^([1-9]\d{0,14}):([0-9a-f]{64})$/.exec(text) ?? [];
  if (seq === undefined) throw invalidField("expect", "must be <seq>:<hash>, as `bodega audit verify` prints it");
  return { seq: Number(seq), hash };
}

const selectSchema = statement<{ type: string; sql: string | null }>(sql`
  select type, sql from sqlite_schema where tbl_name = 'audit_log' and type in ('table', 'trigger')`);

const made = migrations.flatMap(({ sql }) => sql.match(/^CREATE TRIGGER `audit_log_.*$/gm) ?? []);

async function findSchemaFault(db: Executor): Promise<"no table" | "no triggers" | undefined> {
  const schema = await all(db, selectSchema, {});
  if (!schema.some(({ type }) => type === "table")) return "no table";
  // SQLite stores a statement without its final semicolon, so both texts are compared without it.
  const normalize = (text: string) => text.trim().replace(/;$/, "");
  const present = new Set(schema.map((entry) => normalize(entry.sql ?? "")));
  return made.every((trigger) => present.has(normalize(trigger))) ? undefined : "no triggers";
}
