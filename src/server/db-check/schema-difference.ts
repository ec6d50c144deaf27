import type { CheckupDeps, Finding } from "../checkup/finding.ts";
import { describeSchema, isUpToDate, readSchema } from "../checkup/schema.ts";
import { buildSchema, type SchemaObject, selectSchema, toSchemaObject } from "../db/build-schema.ts";
import { loadMark, loadMarkMessage, loadMarkRemedy } from "../db/load-mark.ts";
import { migrations } from "../db/migrations.ts";
import type { Subject } from "./subject.ts";

const foreignRemedy = "Name the right folder with --data-dir, or the right database with --database-url.";

/** What there is to say of a schema, and whether this program can work with it. */
export interface SchemaFindings {
  findings: Finding[];
  isUsable: boolean;
}

/**
 * Holds the tables, indexes and triggers that stand in a database against those that its migrations make.
 * @param about says command lines for remedies.
 */
export async function checkSchema({ session }: Subject, about: Pick<CheckupDeps, "command">): Promise<SchemaFindings> {
  const { rows } = await session.primary.execute(selectSchema);
  const standing = rows.map((row) => toSchemaObject(Array.from(row)));
  if (standing.some(({ name }) => name === loadMark)) return only(loadMark, loadMarkMessage, loadMarkRemedy);
  const state = await readSchema(session);
  if (state.applied === 0 && standing.length > 0) {
    const first = standing.find(({ type }) => type === "table")?.name ?? "unknown";
    return only(first, `The database holds the tables of another program, such as ${first}.`, foreignRemedy);
  }
  const findings = describeSchema(about, state);
  if (state.newer.length === 0 && state.applied > 0) findings.push(...(await compare(standing, state.names, about)));
  return { findings, isUsable: isUpToDate(state) };
}

async function compare(
  objects: readonly SchemaObject[],
  applied: ReadonlySet<string>,
  { command }: Pick<CheckupDeps, "command">,
): Promise<Finding[]> {
  const remedy = `Restore the last backup with: ${command("db restore BACKUP")}`;
  const standing = new Map(objects.map((one) => [one.name, one]));
  const steps = migrations.filter(({ name }) => applied.has(name));
  const expected = new Map((await buildSchema(steps)).map((one) => [one.name, one]));
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
  const foreign = objects.filter(({ name }) => !expected.has(name));
  return [...findings, ...foreign.map((one) => describe("warning", one, "was made by none of the migrations", null))];
}

function only(subject: string, message: string, remedy: string): SchemaFindings {
  return { findings: [{ severity: "error", subject, message, remedy }], isUsable: false };
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
