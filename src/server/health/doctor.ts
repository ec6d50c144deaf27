import { type Config, readConfig } from "../config/config.ts";
import type { SystemCtx } from "../context.ts";
import type { Database } from "../db/session.ts";
import { AppError } from "../errors.ts";
import { requireTenant } from "../modules/tenants/service.ts";
import { checkups, folderCheckups } from "./environment/checkups.ts";
import { type CheckupDeps, type Finding, type Severity, severities } from "./environment/finding.ts";
import { countChecks, lookAll, type Noted, type Progress, type ProgressListener } from "./environment/look.ts";
import { describePlace, openSubject } from "./environment/open-subject.ts";
import { isUpToDate, readSchema } from "./environment/schema.ts";
import { settle, type ToldFinding } from "./environment/settle.ts";
import { type DatabaseSize, readSize } from "./environment/size.ts";
import { type DoctorReport, type Drift, type Note, runDoctor } from "./records/run-checks.ts";

/** What a look at a server, its surroundings and its records has shown. */
export interface Examination {
  /** Whether no error is left, no drift, and in strict mode no warning. */
  ok: boolean;
  /** The worst of what is left. */
  worst: Severity | "ok";
  /** Names of the checks that ran. */
  checked: string[];
  /** Null where it could not be opened. */
  database: ({ kind: string } & DatabaseSize) | null;
  findings: ToldFinding[];
  drift: Drift[];
  notes: Note[];
}

export interface ExamineOptions {
  /** Looks at one store, and at nothing around it. */
  namespace?: string | undefined;
  /** Puts right what can be, and writes that down. */
  fix?: boolean;
  /** Counts warnings as failures. */
  strict?: boolean;
  onProgress?: ProgressListener;
  /** Who acts, with a database of the right schema. */
  makeContext(db: Database, config: Config, options: { leaveModes: boolean }): Promise<SystemCtx>;
  /** See `CheckupDeps`. */
  deps: Omit<CheckupDeps, "config" | "db" | "ctx" | "tenant">;
}

/**
 * Where the settings cannot be read there is nothing but the folder to look at.
 * @param error why they cannot.
 */
export async function examineFolder(
  dataDir: string,
  error: AppError,
  options: Pick<ExamineOptions, "fix" | "deps">,
): Promise<Examination> {
  // What stands in no file and no environment; the place of its own has none to be read.
  const config = { ...readConfig({ dataDir: "/dev/null" }, {}), dataDir };
  const about: CheckupDeps = { ...options.deps, config, db: null, ctx: null, tenant: null };
  const remedy = "Correct it in the environment or in bodega.env of the data directory, and see that you may read it.";
  const finding: Finding = { severity: "error", subject: "settings", message: error.message, remedy };
  const found = await lookAll(folderCheckups, about, countChecks(folderCheckups.length));
  const findings = await settle([{ check: "settings", finding }, ...found], null, options.fix ?? false);
  const checked = ["settings", ...folderCheckups.map(({ name }) => name)];
  return { ok: false, worst: "error", checked, database: null, findings, drift: [], notes: [] };
}

/**
 * Looks at everything around a server, then at its records. A server may be at work meanwhile.
 * @throws notFound when there is no such store.
 */
export async function examine(config: Config, options: ExamineOptions): Promise<Examination> {
  const { namespace, fix = false, strict = false, deps } = options;
  const about: CheckupDeps = { ...deps, config, db: null, ctx: null, tenant: null };
  const ofStores = checkups.filter((one) => one.ofStores);
  const most = folderCheckups.length + (namespace === undefined ? checkups : ofStores).length + records;
  const progress = countChecks(most, options.onProgress);
  const folder = await lookAll(folderCheckups, about, progress);
  const { db, findings: closed } = await openSubject(config, deps);
  try {
    const { ctx, findings: unusable } = await openContext(config, db, options);
    const opening = [...closed, ...unusable].map((finding) => ({ check: "database", finding }));
    const around: Noted[] = [...folder, ...opening];
    const checked = [...folderCheckups.map(({ name }) => name), "database"];
    const tenant = ctx !== null && namespace !== undefined ? await requireTenant(ctx, namespace) : null;
    const isStoreOnly = tenant !== null;
    const wanted = isStoreOnly ? ofStores : checkups;
    const found = await lookAll(wanted, { ...about, db, ctx, tenant }, progress);
    const findings = await settle(isStoreOnly ? found : [...around, ...found], ctx, fix);
    const report = ctx === null ? noRecords : await lookAtRecords(ctx, options, progress);
    const result = { findings, drift: report.drift, notes: report.notes };
    const worst = worstOf(result);
    return {
      ok: worst !== "error" && !(strict && worst === "warning"),
      worst,
      checked: [...new Set([...(isStoreOnly ? [] : checked), ...wanted.map(({ name }) => name), ...report.checked])],
      database: db === null ? null : await describeDatabase(db),
      ...result,
    };
  } finally {
    await db?.close();
  }
}

/** What all checks of the records count for in the progress. */
const records = 1;
const noRecords: DoctorReport = { ok: true, checked: [], drift: [], notes: [] };

/** The context of a database whose schema is this program's; what is in the way is a finding, or found by the check of schemas. */
async function openContext(
  config: Config,
  db: Database | null,
  { makeContext, deps }: ExamineOptions,
): Promise<{ ctx: SystemCtx | null; findings: Finding[] }> {
  try {
    const isUsable = db !== null && isUpToDate(await readSchema(db));
    return { ctx: isUsable ? await makeContext(db, config, { leaveModes: true }) : null, findings: [] };
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    const subject = describePlace(config);
    const message = `The database cannot be read: ${error.message}`;
    return { ctx: null, findings: [{ severity: "error", subject, message, remedy: deps.command("db check") }] };
  }
}

async function describeDatabase(db: Database): Promise<Examination["database"]> {
  try {
    return { kind: db.kind, ...(await readSize(db)) };
  } catch {
    return { kind: db.kind, bytes: null, log_bytes: null, unused_bytes: null };
  }
}

async function lookAtRecords(ctx: SystemCtx, options: ExamineOptions, progress: Progress): Promise<DoctorReport> {
  const { namespace, fix = false } = options;
  let last: string | undefined;
  const onCheck = async (name: string) => {
    if (last !== undefined) progress.leave(last);
    last = name;
    progress.begin(name);
  };
  return runDoctor(ctx, { namespace, fix, onCheck });
}

function worstOf({ findings, drift, notes }: Pick<Examination, "findings" | "drift" | "notes">): Severity | "ok" {
  if (drift.some(({ fixed }) => !fixed)) return "error";
  const left = new Set(findings.filter(({ fixed }) => !fixed).map(({ severity }) => severity));
  if (notes.length > 0) left.add("note");
  return severities.findLast((severity) => left.has(severity)) ?? "ok";
}
