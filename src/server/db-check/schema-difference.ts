import type { Finding } from "../checkup/finding.ts";
import { buildSchema, type SchemaObject, selectSchema, toSchemaObject } from "../db/build-schema.ts";
import { loadMark, loadMarkMessage } from "../db/load-mark.ts";
import { migrations } from "../db/migrations.ts";
import type { Subject } from "./subject.ts";

const remedy = "Restore the last backup with: bodega db restore";

/**
 * Holds the tables, indexes and triggers that stand in a database against those that its migrations make.
 * @param applied names of the migrations that it has, all of them known.
 */
export async function compareSchema({ session }: Subject, applied: ReadonlySet<string>): Promise<Finding[]> {
  const { rows } = await session.primary.execute(selectSchema);
  const standing = new Map(rows.map((row) => toSchemaObject(Array.from(row))).map((one) => [one.name, one]));
  const steps = migrations.filter(({ name }) => applied.has(name));
  const expected = new Map((steps.length === 0 ? [] : await buildSchema(steps)).map((one) => [one.name, one]));
  const findings: Finding[] = [];
  for (const one of expected.values()) {
    const found = standing.get(one.name);
    if (found === undefined) {
      // What belongs to a missing table is missing with it.
      if (one.type === "table" || standing.has(one.table)) findings.push(describe("error", one, "is missing", remedy));
    } else if (!isSame(one, found, expected)) {
      findings.push(describe("error", found, "has another form than the migrations have given it", remedy));
    }
  }
  for (const one of standing.values()) {
    if (expected.has(one.name)) continue;
    if (one.name === loadMark)
      findings.push({ severity: "error", subject: loadMark, message: loadMarkMessage, remedy });
    else findings.push(describe("warning", one, "was made by none of the migrations", null));
  }
  return findings;
}

function describe(
  severity: Finding["severity"],
  { type, name, table }: SchemaObject,
  what: string,
  remedy: Finding["remedy"],
): Finding {
  const where = type === "index" || type === "trigger" ? ` of ${table}` : "";
  return { severity, subject: name, message: `The ${type} ${name}${where} ${what}.`, remedy };
}

function isSame(one: SchemaObject, found: SchemaObject, expected: ReadonlyMap<string, SchemaObject>): boolean {
  if (one.type !== found.type || one.table !== found.table) return false;
  return isMadeByEngine(one.name, expected) || normalize(one.sql) === normalize(found.sql);
}

/** The tables behind a virtual one are the engine's own, and another release of it may make them in another form. */
function isMadeByEngine(name: string, expected: ReadonlyMap<string, SchemaObject>): boolean {
  const owner = expected.get(name.replace(/_[a-z]+$/, ""));
  return owner !== undefined && owner.name !== name && /^CREATE VIRTUAL TABLE/i.test(owner.sql);
}

function normalize(sql: string): string {
  return sql.replace(/\s+/g, " ").replace(/;\s*$/, "").trim();
}
