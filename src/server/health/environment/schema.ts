import { hashMigration } from "../../db/migrate.ts";
import { migrations } from "../../db/migrations.ts";
import type { Database } from "../../db/session.ts";
import type { Checkup, CheckupDeps, Finding } from "./finding.ts";
import { countOf } from "./wording.ts";

/** How the schema of a database stands to this program. */
export interface SchemaState {
  waiting: string[];
  /** Known to a newer program only. */
  newer: string[];
  /** Applied in another form than this program knows. */
  altered: string[];
  applied: number;
  /** Of all that it has. */
  names: ReadonlySet<string>;
}

/** Compares the migrations that a database has with those of this program. */
export async function readSchema(db: Pick<Database, "execute">): Promise<SchemaState> {
  const table = "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = '__bodega_migrations'";
  const hasTable = (await db.execute(table)).rows.length > 0;
  const rows = hasTable ? (await db.execute("SELECT name, hash FROM __bodega_migrations")).rows : [];
  const applied = new Map(rows.map(({ name, hash }) => [String(name), String(hash)]));
  const known = new Set(migrations.map(({ name }) => name));
  return {
    waiting: migrations.filter(({ name }) => !applied.has(name)).map(({ name }) => name),
    newer: [...applied.keys()].filter((name) => !known.has(name)),
    altered: migrations
      .filter((step) => applied.has(step.name) && applied.get(step.name) !== hashMigration(step))
      .map(({ name }) => name),
    applied: applied.size,
    names: new Set(applied.keys()),
  };
}

/** Whether this program can work with it. */
export function isUpToDate({ waiting, newer, altered }: SchemaState): boolean {
  return waiting.length + newer.length + altered.length === 0;
}

/** The schema is the one of this program, made by the migrations as they are. */
export const schema: Checkup = {
  name: "schema",
  async find(about) {
    return about.db === null ? [] : describeSchema(about, await readSchema(about.db));
  },
};

/** What there is to say of that. */
export function describeSchema({ command }: Pick<CheckupDeps, "command">, state: SchemaState): Finding[] {
  const error = (subject: string, message: string, remedy: string): Finding => ({
    severity: "error",
    subject,
    message,
    remedy,
  });
  const restore = (which: string) => `restore a backup${which} with: ${command("db restore BACKUP")}`;
  const found: Finding[] = [];
  const [newer] = state.newer;
  if (newer !== undefined) {
    const remedy = `Run the version that made it, or ${restore(" from before it")}`;
    found.push(error(newer, `The database has the schema of a newer version of this program (${newer}).`, remedy));
  }
  for (const name of state.altered) {
    const remedy = `Run the version that made it, or ${restore("")}`;
    found.push(error(name, `The database was migrated with another form of ${name} than this program has.`, remedy));
  }
  const [first] = state.waiting;
  if (first === undefined) return found;
  const message =
    state.applied === 0
      ? "The database is empty: it has no schema yet."
      : `The database is older than this program: ${countOf(state.waiting.length, "migration")} must be applied, from ${first} on. Commands refuse until then.`;
  return [...found, error(first, message, command("db migrate"))];
}
