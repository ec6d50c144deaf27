import { sql } from "drizzle-orm";
import type { AcmeConfig } from "../../config/acme-config.ts";
import type { Database } from "../../db/session.ts";
import { equals, get, param, run, statement } from "../../db/statement.ts";
import { toTimestamp } from "../../values/stamps.ts";
import { acmeCertificates } from "./table.ts";

const selectRow = statement((q) => q.select().from(acmeCertificates).where(equals(acmeCertificates.id, "id")));
const claimRow = statement(sql`
  insert into ${acmeCertificates} (id, next_at) values (${param("id")}, ${param("until")})
  on conflict (id) do update set next_at = excluded.next_at where next_at = ${param("at")}`);
const updateAnswers = statement(sql`
  update ${acmeCertificates} set challenges = ${param("answers")} where id = ${param("id")}`);
const updateResult = statement(sql`
  update ${acmeCertificates} set challenges = '{}', sealed = coalesce(${param("sealed")}, sealed),
    next_at = ${param("next")}, failures = ${param("failures")}, failure = ${param("failure")}
  where id = ${param("id")}`);

/** When to check again, in epoch milliseconds, and a new certificate with its key, encrypted, or a failure in JSON. */
export type Result = { nextAt: number; sealed?: string; failures?: number; failure?: string };

/** Opens the row of these names at an authority. The first claim creates it. */
export function openRow(db: Database, { directory, names }: AcmeConfig) {
  const id = `${directory} ${names.join(",")}`;
  return {
    id,
    read: () => get(db, selectRow, { id }),
    /** Whether this server may work on the row. Of several servers that read the same `nextAt`, one may. */
    claim: async (at: string, until: number) => (await run(db, claimRow, { id, at, until: toTimestamp(until) })) > 0,
    publish: (answers: Record<string, string>) => run(db, updateAnswers, { id, answers: JSON.stringify(answers) }),
    save: ({ nextAt, sealed, failures = 0, failure }: Result) =>
      run(db, updateResult, {
        ...{ id, failures },
        next: toTimestamp(nextAt),
        sealed: sealed ?? null,
        failure: failure ?? null,
      }),
  };
}
