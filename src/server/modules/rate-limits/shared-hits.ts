import { sql } from "drizzle-orm";
import type { Database, Executor } from "../../db/session.ts";
import { bind, param, run, statement } from "../../db/statement.ts";
import { publicHits } from "./table.ts";
import { type HitBucket, windowMs } from "./write-counts.ts";

/** Rows are kept for twice as long as they mean something, for machines whose clocks differ. */
const keptMs = 2 * windowMs;

const putHits = statement(sql`
  insert or replace into ${publicHits} (process, written_at, hits)
  values (${param("process")}, ${param("writtenAt")}, ${param("hits")})`);
// The newest row stays, however old, as the next one gets a higher rowid only after it.
const removeOld = statement(sql`
  delete from ${publicHits} where written_at <= ${param("before")}
    and rowid < (select max(rowid) from ${publicHits})`);
const selectNew = statement<NewRow>(sql`
  select rowid as position, written_at, case when process = ${param("process")} then null else hits end as hits
  from ${publicHits} where rowid > ${param("position")} and written_at > ${param("since")} order by rowid`);

interface NewRow {
  position: number;
  written_at: number;
  hits: string | null;
}

/** The hits of some subjects, by the keyed hash of each. */
export type SharedHits = [subject: string, buckets: HitBucket[]][];

/** What another process has written. */
export interface HeardHits {
  /** Epoch milliseconds by that machine's clock. */
  writtenAt: number;
  hits: SharedHits;
}

/** Where a process stands among what all have written. */
export interface SharePosition {
  process: string;
  /** Rowid of the latest row that it has read; 0 for none. */
  position: number;
}

/**
 * Writes down what a process has counted and reads what others have written since, in one transaction and round trip.
 * @param own what to write; null for nothing, and then only a read is done.
 * @param since only what was written after this is read.
 * @returns what others wrote, oldest first, and the position for the next call. Errors: those of the database.
 */
export async function exchangeHits(
  db: Database,
  { process, position }: SharePosition,
  own: { writtenAt: number; hits: SharedHits } | null,
  since: number,
): Promise<{ heard: HeardHits[]; position: number }> {
  const read = bind(selectNew, { process, position, since });
  const results = own
    ? await db.batch(
        [
          bind(putHits, { process, writtenAt: own.writtenAt, hits: toText(own.hits) }),
          bind(removeOld, { before: own.writtenAt - keptMs }),
          read,
        ],
        "write",
      )
    : await db.batch([read], "read");
  const rows = (results.at(-1)?.rows ?? []) as unknown as NewRow[];
  const heard = rows.flatMap(({ written_at, hits }) =>
    hits === null ? [] : [{ writtenAt: written_at, hits: fromText(hits) }],
  );
  return { heard, position: rows.at(-1)?.position ?? position };
}

/** Removes rows that mean nothing any more. Returns how many went. */
export function sweepPublicHits(ctx: { db: Executor; now: () => number }): Promise<number> {
  return run(ctx.db, removeOld, { before: ctx.now() - keptMs });
}

/** `{"<subject>": [at, hits, at, hits, …]}`. */
function toText(hits: SharedHits): string {
  return JSON.stringify(
    Object.fromEntries(hits.map(([subject, buckets]) => [subject, buckets.flatMap(({ at, hits }) => [at, hits])])),
  );
}

function fromText(text: string): SharedHits {
  const bySubject = JSON.parse(text) as Record<string, number[]>;
  return Object.entries(bySubject).map(([subject, numbers]) => {
    const buckets: HitBucket[] = [];
    for (let i = 0; i < numbers.length; i += 2) {
      buckets.push({ at: numbers[i] as number, hits: numbers[i + 1] as number });
    }
    return [subject, buckets];
  });
}
