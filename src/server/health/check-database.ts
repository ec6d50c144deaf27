import { randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import type { Config } from "../config/config.ts";
import { databaseFile } from "../config/data-dir.ts";
import type { SystemCtx } from "../context.ts";
import { notFound, unavailable } from "../errors.ts";
import { closedVault } from "../security/secret-key.ts";
import { describeDamage } from "./database/damage.ts";
import { describeDamageRemedy, describeLength, fileError, lookAtFile } from "./database/look-at-file.ts";
import { checkSchema } from "./database/schema-difference.ts";
import { checkIntegrity, checkReferences } from "./database/soundness.ts";
import { openFileSubject, openServerSubject, type Subject } from "./database/subject.ts";
import type { Examination } from "./doctor.ts";
import type { CheckupDeps, Finding } from "./environment/finding.ts";
import { severities } from "./environment/finding.ts";
import { readSize } from "./environment/size.ts";
import { runDoctor } from "./records/run-checks.ts";

/** What a check of a database needs besides the configuration. */
export interface DatabaseCheckOptions extends Pick<CheckupDeps, "command" | "now"> {
  /** Is told which step begins; the steps themselves may hold up the process for minutes. */
  onStep?: (name: string) => Promise<void>;
}

/**
 * Looks through a whole database and changes nothing: the file, its pages and rows, references, schema, and what is kept
 * beside what it follows from. A server may be at work on it meanwhile. What is damaged is a finding, never an error.
 * @throws notFound when there is no database; unavailable when a database server does not answer, or the file is busy.
 */
export async function checkDatabase(config: Config, options: DatabaseCheckOptions): Promise<Examination> {
  const report: Examination = {
    ok: true,
    worst: "ok",
    checked: [],
    database: null,
    findings: [],
    drift: [],
    notes: [],
  };
  const url = config.databaseUrl;
  if (url === undefined) await checkFile(report, config.dataDir, options);
  else {
    const subject = await openServerSubject(config, url);
    await checkSubject(report, subject, new URL(url).host, options).finally(() => subject.close());
  }
  const worst = severities.findLast((severity) => report.findings.some((one) => one.severity === severity));
  report.worst = report.drift.length > 0 ? "error" : (worst ?? (report.notes.length > 0 ? "note" : "ok"));
  report.ok = report.worst !== "error";
  report.findings.sort((a, b) => severities.indexOf(b.severity) - severities.indexOf(a.severity));
  return report;
}

async function checkFile(report: Examination, dataDir: string, options: DatabaseCheckOptions): Promise<void> {
  const path = databaseFile(dataDir);
  if (!existsSync(path)) {
    throw notFound("database", undefined, {
      in: dataDir,
      remedy: "Name its folder with --data-dir or BODEGA_DATA_DIR, or open a shop there: bodega init",
    });
  }
  const { findings, isDatabase } = lookAtFile(path, options.command);
  report.checked.push("file");
  addFindings(report, "file", findings);
  if (!isDatabase) return;
  let subject: Subject | undefined;
  try {
    subject = await openFileSubject(path);
    await checkSubject(report, subject, path, options);
  } catch (error) {
    const damage = describeDamage(error);
    if (damage === undefined) throw error;
    const what = subject === undefined ? "cannot be opened" : "cannot be read to its end";
    addFindings(report, "file", [fileError(path, `${path} ${what}: ${damage}.`, options.command)]);
  } finally {
    await subject?.close();
  }
  const length = report.ok ? undefined : describeLength(path);
  if (length !== undefined) {
    addFindings(report, "file", [fileError(path, `${path} is cut off. ${length}`, options.command)]);
  }
}

async function checkSubject(
  report: Examination,
  subject: Subject,
  name: string,
  options: DatabaseCheckOptions,
): Promise<void> {
  // A server that cannot be reached is no finding about its database.
  if (subject.kind === "server") await subject.session.execute("SELECT 1");
  const step = async (check: string, look: () => Promise<Finding[]>) => {
    await options.onStep?.(check);
    report.checked.push(check);
    try {
      addFindings(report, check, await look());
    } catch (error) {
      const damage = describeDamage(error);
      if (damage === undefined) throw error;
      const message = `This could not be looked at: ${damage}.`;
      const remedy = describeDamageRemedy(subject.kind, options.command);
      addFindings(report, check, [{ severity: "error", subject: name, message, remedy }]);
    }
  };
  await step("integrity", () => subject.atLength(() => checkIntegrity(subject, name, options.command)));
  await step("references", () => subject.atLength(() => checkReferences(subject, options.command)));
  let isUsable = false;
  await step("schema", async () => {
    const looked = await checkSchema(subject, options);
    isUsable = looked.isUsable;
    return looked.findings;
  });
  report.database = { kind: subject.kind, ...(await readSize(subject.size).catch(() => unknownSize)) };
  const isWhole = report.findings.every(({ severity }) => severity !== "error");
  if (isWhole && isUsable) await checkRecords(report, subject, options);
}

const unknownSize = { bytes: null, log_bytes: null, unused_bytes: null };

/** Computes again what is kept. Where tables are missing or damaged that would only say so once more. */
async function checkRecords(report: Examination, { session }: Subject, options: DatabaseCheckOptions): Promise<void> {
  await options.onStep?.("records");
  const ctx: SystemCtx = {
    db: session,
    actor: { kind: "server" },
    vault: closedVault(unavailable()),
    requestId: randomUUID(),
    now: options.now,
    clientIp: null,
  };
  const { checked, drift, notes } = await runDoctor(ctx);
  report.checked.push(...checked.filter((name) => name !== "database"));
  report.drift = drift;
  report.notes = notes;
}

function addFindings(report: Examination, check: string, findings: Finding[]): void {
  for (const { severity, subject, message, remedy } of findings) {
    report.findings.push({ check, severity, namespace: null, subject, message, remedy, fixable: false, fixed: false });
    if (severity === "error") report.ok = false;
  }
}
