import { selectSchema, toSchemaObject } from "../../db/build-schema.ts";
import { compareSchema, isWithoutGaps, nameObject, type SchemaFault } from "../../db/compare-schema.ts";
import { loadMark, loadMarkMessage, loadMarkRemedy } from "../../db/local/restore-marker.ts";
import type { CheckupDeps, Finding } from "../environment/finding.ts";
import { describeSchema, isUpToDate, readSchema } from "../environment/schema.ts";
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
  const { rows } = await session.execute(selectSchema);
  const standing = rows.map((row) => toSchemaObject(Array.from(row)));
  if (standing.some(({ name }) => name === loadMark)) return only(loadMark, loadMarkMessage, loadMarkRemedy);
  const state = await readSchema(session);
  if (state.applied === 0 && standing.length > 0) {
    const first = standing.find(({ type }) => type === "table")?.name ?? "unknown";
    return only(first, `The database holds the tables of another program, such as ${first}.`, foreignRemedy);
  }
  const findings = describeSchema(about, state);
  if (state.newer.length === 0 && state.applied > 0 && isWithoutGaps(state.names)) {
    const faults = await compareSchema(standing, state.names);
    findings.push(...faults.map((fault) => describe(fault, about)));
  }
  return { findings, isUsable: isUpToDate(state) };
}

function only(subject: string, message: string, remedy: string): SchemaFindings {
  return { findings: [{ severity: "error", subject, message, remedy }], isUsable: false };
}

const words = {
  missing: "is missing",
  altered: "has another form than the migrations have given it",
  foreign: "was made by none of the migrations",
};

function describe({ kind, object }: SchemaFault, { command }: Pick<CheckupDeps, "command">): Finding {
  const { type, name } = object;
  // A trigger writes by itself, whatever the program means to do.
  const severity = kind === "foreign" && type !== "trigger" ? "warning" : "error";
  const remedy =
    kind === "foreign"
      ? `Ask who made it, and remove it with DROP ${type.toUpperCase()}: a backup that holds it is not restored.`
      : `Restore the last backup with: ${command("db restore BACKUP")}`;
  return { severity, subject: name, message: `The ${nameObject(object)} ${words[kind]}.`, remedy };
}
