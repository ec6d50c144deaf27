// Checks that the migrations in drizzle/ create exactly the declared tables, and that builds embed all migrations.
import { Database } from "bun:sqlite";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { generateSQLiteDrizzleJson, generateSQLiteMigration } from "drizzle-kit/api";
import drizzleConfig from "../drizzle.config.ts";

type Snapshot = Awaited<ReturnType<typeof generateSQLiteDrizzleJson>>;

const root = join(import.meta.dir, "..");
const folder = join(root, "drizzle");
const remedy = "Run `bun run generate`, then list the new file in src/server/db/migrate.ts.";

function readJson<T>(...path: string[]): T {
  return JSON.parse(readFileSync(join(folder, ...path), "utf8"));
}

/** Returns the names of the migrations in the order in which they are applied. */
function readJournal(): string[] {
  const journal = readJson<{ entries: { idx: number; tag: string }[] }>("meta", "_journal.json");
  return journal.entries.toSorted((a, b) => a.idx - b.idx).map((entry) => entry.tag);
}

async function readDeclaredTables(): Promise<Snapshot> {
  const tables: Record<string, unknown> = {};
  for (const pattern of [drizzleConfig.schema ?? []].flat()) {
    for (const path of new Bun.Glob(pattern).scanSync({ cwd: root, absolute: true })) {
      Object.assign(tables, await import(path));
    }
  }
  return generateSQLiteDrizzleJson(tables);
}

const comparable = ({ tables, views }: Snapshot) => JSON.parse(JSON.stringify({ tables, views }));

/** Returns the tables with their columns, indexes and keys. Sorts columns, because ALTER TABLE appends them. */
function describeSchema(statements: string[]): Record<string, unknown> {
  const db = new Database(":memory:");
  for (const statement of statements) db.run(statement);
  const sorted = (rows: unknown[]) => rows.map((row) => JSON.stringify(row)).toSorted();
  const names = db
    .query<{ name: string }, []>(
      "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite%' AND name NOT LIKE 'product_search%'",
    )
    .all();
  const described: Record<string, unknown> = {};
  for (const { name } of names) {
    described[name] = {
      columns: sorted(db.query(`SELECT name, type, "notnull", dflt_value, pk FROM pragma_table_xinfo(?)`).all(name)),
      keys: sorted(
        db.query(`SELECT "table", "from", "to", on_update, on_delete FROM pragma_foreign_key_list(?)`).all(name),
      ),
      indexes: sorted(
        db
          .query(`SELECT i.name, i."unique", i.partial, x.seqno, x.name AS "column", x."desc", x.coll
            FROM pragma_index_list(?) i JOIN pragma_index_xinfo(i.name) x WHERE x.key = 1 AND i.origin <> 'pk'`)
          .all(name),
      ),
    };
  }
  db.close();
  return described;
}

function differing(left: Record<string, unknown>, right: Record<string, unknown>): string[] {
  const names = new Set([...Object.keys(left), ...Object.keys(right)]);
  return [...names].filter((name) => !Bun.deepEquals(left[name], right[name])).toSorted();
}

async function findEmbeddingFaults(names: string[], texts: string[]): Promise<string[]> {
  const { migrations } = await import("../src/server/db/migrate.ts");
  const embedded: { name: string; sql: string }[] = [...migrations];
  if (embedded.map(({ name }) => name).join() !== names.join()) {
    return [`src/server/db/migrate.ts lists [${embedded.map(({ name }) => name)}], the journal [${names}].`];
  }
  return embedded.flatMap(({ name, sql }, at) => (sql === texts[at] ? [] : [`${name} is embedded with other SQL.`]));
}

async function findFaults(): Promise<string[]> {
  const names = readJournal();
  const files = readdirSync(folder).filter((file) => file.endsWith(".sql"));
  const expected = names.map((name) => `${name}.sql`).toSorted();
  if (files.toSorted().join() !== expected.join()) return [`drizzle/ holds [${files}], its journal [${expected}].`];

  const texts = names.map((name) => readFileSync(join(folder, `${name}.sql`), "utf8"));
  const declared = await readDeclaredTables();
  const last = readJson<Snapshot>("meta", `${(names.at(-1) ?? "").slice(0, 4)}_snapshot.json`);
  const undescribed = differing(comparable(declared).tables, comparable(last).tables);
  const fresh = await generateSQLiteMigration(await generateSQLiteDrizzleJson({}), declared);
  const applied = describeSchema(texts.flatMap((text) => text.split("--> statement-breakpoint")));
  const unmade = differing(applied, describeSchema(fresh));
  return [
    ...undescribed.map((name) => `The table "${name}" changed after the last migration was generated.`),
    ...unmade.map((name) => `The migrations do not make the table "${name}" as the code declares it.`),
    ...(await findEmbeddingFaults(names, texts)),
  ];
}

const faults = await findFaults();
for (const fault of faults) console.error(`migrations: ${fault}`);
if (faults.length > 0) {
  console.error(remedy);
  process.exit(1);
}
console.log("The migrations create exactly the declared tables.");
