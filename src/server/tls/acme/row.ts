import { sql } from "drizzle-orm";
import type { AcmeConfig } from "../../config/acme-config.ts";
import type { Database } from "../../db/session.ts";
import { equals, get, param, run, statement } from "../../db/statement.ts";
import { toTimestamp } from "../../values/stamps.ts";
import { acmeCertificates } from "./table.ts";

const selectRow = statement((q) => q.select().from(acmeCertificates).where(equals(acmeCertificates.id, "id")));
const hastenRow = statement(sql`update ${acmeCertificates} set next_at = '' where id = ${param("id")}`);
const claimRow = statement(sql`
  insert into ${acmeCertificates} (id, next_at) values (${param("id")}, ${param("until")})
  on conflict (id) do update set next_at = excluded.next_at where next_at = ${param("at")}`);
const updateAnswers = statement(sql`
  update ${acmeCertificates} set challenges = ${param("answers")} where id = ${param("id")}`);
const updateResult = statement(sql`
  update ${acmeCertificates} set challenges = '{}', sealed = coalesce(${param("sealed")}, sealed),
    next_at = ${param("next")}, failures = ${param("failures")}, failure = ${param("failure")}
  where id = ${param("id")}`);

/** `nextAt` is the time of the next check, in epoch milliseconds. `sealed` is a new certificate. `failure` is JSON. */
export type Result = { nextAt: number; sealed?: string | null; failures?: number; failure?: string | null };

/** Returns functions for the row of an authority and host names. The first claim creates the row. */
export function openRow(db: Database, { directory, names }: AcmeConfig) {
  const id = `${directory} ${names.join(",")}`;
  return {
    id,
    read: () => get(db, selectRow, { id }),
    /** Makes the next check due now. */
    hasten: () => run(db, hastenRow, { id }),
    /** Returns whether this server may renew. Of several servers that read the same `nextAt`, only one may. */
    claim: async (at: string, until: number) => (await run(db, claimRow, { id, at, until: toTimestamp(until) })) > 0,
    publish: (answers: Record<string, string>) => run(db, updateAnswers, { id, answers: JSON.stringify(answers) }),
    save: ({ nextAt, sealed = null, failures = 0, failure = null }: Result) =>
      run(db, updateResult, { id, next: toTimestamp(nextAt), sealed, failures, failure }),
  };
}
