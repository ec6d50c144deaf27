import { sql } from "drizzle-orm";
import { eq } from "drizzle-orm/sql";
import type { AcmeConfig } from "../../config/acme-config.ts";
import { pick } from "../../db/selection.ts";
import type { Database } from "../../db/session.ts";
import { all, get, param, run, statement } from "../../db/statement.ts";
import { toTimestamp } from "../../values/stamps.ts";
import type { Failure } from "./failure.ts";
import { acmeCertificates } from "./table.ts";

/** How long a copy may take before another one tries. */
const leaseMs = 600_000;

const isOwn = eq(acmeCertificates.id, param("id"));
const insertRow = statement((q) =>
  q
    .insert(acmeCertificates)
    .values({ id: param("id"), nextAt: param("now") })
    .onConflictDoNothing(),
);
const selectRow = statement((q) => q.select().from(acmeCertificates).where(isOwn));
const claimRow = statement(sql`
  update ${acmeCertificates} set next_at = ${param("lease")} where id = ${param("id")} and next_at = ${param("at")}`);
const updateAnswers = statement((q) =>
  q
    .update(acmeCertificates)
    .set({ challenges: param("answers") })
    .where(isOwn),
);
const updateResult = statement(sql`
  update ${acmeCertificates} set challenges = '{}', sealed = coalesce(${param("sealed")}, sealed),
    next_at = ${param("next")}, failures = ${param("failures")}, failure = ${param("failure")}
  where id = ${param("id")}`);
const selectAnswers = statement((q) => q.select(pick(acmeCertificates, "challenges")).from(acmeCertificates));

export const readRow = (db: Database, { directory, names }: AcmeConfig) =>
  get(db, selectRow, { id: `${directory} ${names.join(",")}` });

/** Returns the answer to a challenge of any copy; undefined for an unknown token. */
export async function findAnswer(db: Database, token: string): Promise<string | undefined> {
  const rows = await all(db, selectAnswers);
  const answers = rows.flatMap(({ challenges }) => Object.entries<string>(JSON.parse(challenges)));
  return answers.find(([known]) => known === token)?.[1];
}

/** When to look again, in epoch milliseconds. `sealed` is a new certificate with its key, encrypted. */
export interface Result {
  nextAt: number;
  sealed?: string | undefined;
  failures?: number;
  failure?: Failure | undefined;
}

/** Returns functions that change the row of the names, which is created if it is missing. */
export async function openRow(db: Database, config: AcmeConfig, now: () => number) {
  const id = `${config.directory} ${config.names.join(",")}`;
  await run(db, insertRow, { id, now: toTimestamp(now()) });
  return {
    id,
    /** Whether this copy may work on the row now. Of several copies, one gets it. */
    claim: async (at: string) => (await run(db, claimRow, { id, at, lease: toTimestamp(now() + leaseMs) })) > 0,
    publish: (answers: Record<string, string>) => run(db, updateAnswers, { id, answers: JSON.stringify(answers) }),
    save({ nextAt, sealed, failures = 0, failure }: Result) {
      const next = { next: toTimestamp(nextAt), failures, failure: failure ? JSON.stringify(failure) : null };
      return run(db, updateResult, { id, sealed: sealed ?? null, ...next });
    },
  };
}
