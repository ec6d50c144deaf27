import { randomUUID } from "node:crypto";
import type { Client, InStatement } from "@libsql/core/api";
import { loadMark } from "../../db/local/restore-marker.ts";
import { retryWhileBusy } from "../../db/server/server-calls.ts";
import type { Database } from "../../db/session.ts";
import { conflict } from "../../errors.ts";
import { copyClientOf } from "../copy/server-source.ts";
import { type CopyPlan, quote } from "../copy/table-plan.ts";
import type { LoadTarget } from "./load-target.ts";

const busyDeadlineMs = 30_000;

const makeMark = `CREATE TABLE ${loadMark} (id INTEGER PRIMARY KEY CHECK (id = 1), loader TEXT NOT NULL)`;
// A NULL breaks the column's NOT NULL, and with it the whole transaction: nothing can be looked at in between.
const guard = `UPDATE ${loadMark} SET loader = CASE WHEN loader = ? THEN loader END`;
const takeOver = `UPDATE ${loadMark} SET loader = ?`;
const mark = `INSERT INTO ${loadMark} (id, loader) VALUES (1, ?)`;
const markUnlessUsed = `INSERT INTO ${loadMark} (id, loader) SELECT 1, CASE WHEN count(*) = 0 THEN ? END FROM tenants`;

/** A database that is being filled by this process, as long as no other one begins to fill it. */
export interface Loading {
  client: Client;
  /** Writes one portion, all or nothing. */
  write(statements: InStatement[]): Promise<void>;
  /** Writes the last portion, after which the database is a whole one. */
  finish(statements: InStatement[]): Promise<void>;
  /** Leaves an empty database behind. */
  abandon(): Promise<void>;
}

/**
 * Empties the database and gives it the tables and indexes to fill, in one transaction. Indexes are there from the start:
 * one that is made over all rows at the end may take longer than a server waits.
 * @throws conflict when somebody else has changed the database since it was looked at; unavailable without the server.
 */
export async function beginLoading(db: Database, target: LoadTarget, plan: CopyPlan): Promise<Loading> {
  const client = copyClientOf(db);
  const loader = randomUUID();
  const run = (statements: InStatement[]) => retryWhileBusy(() => client.migrate(statements), busyDeadlineMs);
  const guarded = (statements: InStatement[]) =>
    run([{ sql: guard, args: [loader] }, ...statements]).catch((error) => {
      if (!isLost(error)) throw error;
      const remedy = "Let the other one end, and look at what it has brought.";
      throw conflict("Another restore into this database has begun; this one stops.", { remedy });
    });
  try {
    await run([...marking(target, loader), ...target.clearing, ...making(plan)]);
  } catch (error) {
    if (!isLost(error) && !/already exists|no such table/.test(String(error))) throw error;
    const remedy = "Stop every server of this database, and try again.";
    throw conflict("The database has changed in this moment.", { cause: error, remedy });
  }
  return {
    client,
    async write(statements) {
      await guarded(statements);
    },
    async finish(statements) {
      await guarded([...statements, `DROP TABLE ${loadMark}`]);
    },
    async abandon() {
      const drops = plan.tables.filter(({ name, kind }) => kind !== "shadow" && name !== "__bodega_migrations");
      await guarded([...drops.map(({ name }) => `DROP TABLE ${quote(name)}`), `DROP TABLE ${loadMark}`]);
    },
  };
}

function marking({ state }: LoadTarget, loader: string): InStatement[] {
  if (state === "cut short") return [{ sql: takeOver, args: [loader] }];
  return [makeMark, { sql: state === "fresh" ? markUnlessUsed : mark, args: [loader] }];
}

function making({ tables, indexes }: CopyPlan): InStatement[] {
  const made = tables.filter(({ name, kind }) => kind !== "shadow" && name !== "__bodega_migrations");
  return [...made.map(({ sql }) => sql), ...indexes];
}

function isLost(error: unknown): boolean {
  return /NOT NULL constraint failed: __bodega_load|no such table: __bodega_load/.test(String(error));
}
