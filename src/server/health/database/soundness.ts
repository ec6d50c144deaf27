import type { CheckupDeps, Finding } from "../environment/finding.ts";
import { limitFindings } from "../environment/limit-findings.ts";
import { countOf } from "../environment/wording.ts";
import { describeDamageRemedy } from "./look-at-file.ts";
import type { Subject } from "./subject.ts";

const maxFaults = 100;

type Command = CheckupDeps["command"];

/** Reads the whole database: pages, rows, indexes, CHECKs. */
export async function checkIntegrity({ ask, kind }: Subject, name: string, command: Command): Promise<Finding[]> {
  const { rows } = await ask(`PRAGMA integrity_check(${maxFaults})`);
  const texts = rows.map((row) => String(row[0])).filter((text) => text !== "ok");
  const findings = texts.map((text): Finding => {
    const message = text.replace(/^\*\*\* in database main \*\*\*\s*/, "").replaceAll("\n", "; ");
    const told = `The database is damaged: ${message}.`;
    return { severity: "error", subject: name, message: told, remedy: describeDamageRemedy(kind, command) };
  });
  return limitFindings(findings, "faults");
}

/** Finds rows that refer to missing ones, told together by the two tables. */
export async function checkReferences({ ask }: Subject, command: Command): Promise<Finding[]> {
  const remedy = `Ask who wrote to the file by other means, or restore the last backup with: ${command("db restore BACKUP")}`;
  const { rows } = await ask(`SELECT "table", parent, count(*), min(rowid) FROM pragma_foreign_key_check
    GROUP BY "table", parent ORDER BY 1, 2`);
  return rows.map((row): Finding => {
    const [table, parent, count, first] = [row[0], row[1], Number(row[2]), row[3]];
    const which = first === null ? "" : `, the first of them row ${first}`;
    const message = `${countOf(count, "row")} of ${table} ${count === 1 ? "refers" : "refer"} to missing rows of ${parent}${which}.`;
    return { severity: "error", subject: String(table), message, remedy };
  });
}
