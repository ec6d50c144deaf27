import { checkups, folderCheckups } from "./checkup/checkups.ts";
import type { Checkup, CheckupDeps, Finding, Severity } from "./checkup/finding.ts";
import { severities } from "./checkup/finding.ts";
import { openSubject } from "./checkup/open-subject.ts";
import { isUpToDate, readSchema } from "./checkup/schema.ts";
import { type DatabaseSize, readSize } from "./checkup/size.ts";
import { type Config, readConfig } from "./config.ts";
import type { SystemCtx } from "./context.ts";
import { databaseFile } from "./db/data-dir.ts";
import type { Database } from "./db/session.ts";
import { type DoctorReport, type Drift, type Note, runDoctor } from "./doctor.ts";
import { AppError } from "./errors.ts";
import { recordAudit } from "./modules/audit/service.ts";
import { requireTenant } from "./modules/tenants/service.ts";

/** No check takes longer, whatever it waits for. */
const mostPatience = 3;

/** A finding as it is told. */
export interface ToldFinding {
  check: string;
  severity: Severity;
  /** Of the store that it concerns; null for the whole server. */
  namespace: string | null;
  subject: string;
  message: string;
  remedy: string | null;
  /** Whether `fix` puts it right. */
  fixable: boolean;
  /** Whether it has been put right by this call. */
  fixed: boolean;
}

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
  /** Is told how many checks have ended, of how many, and which one. */
  onProgress?: (done: number, total: number, name: string) => void;
  /** Who acts, with a database of the right schema. */
  makeContext(db: Database, config: Config): Promise<SystemCtx>;
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
  const found = await lookAll(folderCheckups, about, countChecks(true, quiet));
  const findings = await settle([{ check: "settings", finding }, ...found], about, null, options.fix ?? false);
  const checked = ["settings", ...folderCheckups.map(({ name }) => name)];
  return { ok: false, worst: "error", checked, database: null, findings, drift: [], notes: [] };
}

/**
 * Looks at everything around a server, then at its records. A server may be at work meanwhile.
 * @throws AppError 5301 when there is no such store.
 */
export async function examine(config: Config, options: ExamineOptions): Promise<Examination> {
  const { namespace, fix = false, strict = false, deps } = options;
  const about: CheckupDeps = { ...deps, config, db: null, ctx: null, tenant: null };
  const isWhole = namespace === undefined;
  const progress = countChecks(isWhole, options);
  // Opening a database takes its files from everyone else, so what there was to see is looked at before.
  const folder = await lookAll(folderCheckups, about, progress);
  const { db, findings: closed } = await openSubject(config, deps);
  try {
    const { ctx, findings: unusable } = await openContext(config, db, options);
    const opening = [...closed, ...unusable].map((finding) => ({ check: "database", finding }));
    const around: Noted[] = [...folder, ...opening];
    const checked = [...folderCheckups.map(({ name }) => name), "database"];
    const tenant = ctx !== null && namespace !== undefined ? await requireTenant(ctx, namespace) : null;
    const wanted = checkups.filter(({ ofStores }) => tenant === null || ofStores);
    const found = await lookAll(wanted, { ...about, db, ctx, tenant }, progress);
    const isStoreOnly = tenant !== null;
    const findings = await settle(isStoreOnly ? found : [...around, ...found], about, ctx, fix);
    const records = ctx === null ? noRecords : await lookAtRecords(ctx, options, progress);
    const result = { findings, drift: records.drift, notes: records.notes };
    const worst = worstOf(result);
    return {
      ok: worst !== "error" && !(strict && worst === "warning"),
      worst,
      checked: [...new Set([...(isStoreOnly ? [] : checked), ...wanted.map(({ name }) => name), ...records.checked])],
      database: db === null ? null : await describeDatabase(db),
      ...result,
    };
  } finally {
    await db?.close();
  }
}

interface Noted {
  check: string;
  finding: Finding;
}

const noRecords: DoctorReport = { ok: true, checked: [], drift: [], notes: [] };

/** The context of a database whose schema is this program's; what is in the way is a finding, or found by the check of schemas. */
async function openContext(
  config: Config,
  db: Database | null,
  { makeContext, deps }: ExamineOptions,
): Promise<{ ctx: SystemCtx | null; findings: Finding[] }> {
  try {
    const isUsable = db !== null && isUpToDate(await readSchema(db));
    return { ctx: isUsable ? await makeContext(db, config) : null, findings: [] };
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    const subject = config.databaseUrl ?? config.databaseSyncUrl ?? databaseFile(config.dataDir);
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

/** The names of record checks are known only as they run, so that they count as one step. */
function countChecks(isWhole: boolean, { onProgress }: ExamineOptions): { begin(name: string): void; end(): void } {
  const total = folderCheckups.length + checkups.filter(({ ofStores }) => isWhole || ofStores).length + 1;
  let done = 0;
  return {
    begin: (name) => onProgress?.(done, total, name),
    end: () => {
      done += 1;
    },
  };
}

type Progress = ReturnType<typeof countChecks>;

async function lookAll(list: readonly Checkup[], about: CheckupDeps, progress: Progress): Promise<Noted[]> {
  const looks = await Promise.all(
    list.map(async (one) => {
      progress.begin(one.name);
      const found = await look(one, about);
      progress.end();
      return found.map((finding) => ({ check: one.name, finding }));
    }),
  );
  return looks.flat();
}

/** What a look that fails has thrown is a finding as well. */
async function look(checkup: Checkup, about: CheckupDeps): Promise<Finding[]> {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => late.reject(new Error("it took too long")), about.patienceMs * mostPatience);
  try {
    return await Promise.race([checkup.find(about), late.promise]);
  } catch (error) {
    const reason = error instanceof AppError || error instanceof Error ? error.message.split("\n")[0] : "unknown";
    const message = `This could not be looked at: ${reason}`;
    return [{ severity: "error", subject: checkup.name, message, remedy: about.command("db check") }];
  } finally {
    clearTimeout(timer);
  }
}

async function lookAtRecords(ctx: SystemCtx, options: ExamineOptions, progress: Progress): Promise<DoctorReport> {
  const { namespace, fix = false } = options;
  return runDoctor(ctx, { namespace, fix, onCheck: async (name) => progress.begin(name) });
}

/** Puts right what can be where that is asked for, and tells what has come of it. */
async function settle(found: Noted[], about: CheckupDeps, ctx: SystemCtx | null, fix: boolean): Promise<ToldFinding[]> {
  const told: ToldFinding[] = [];
  for (const { check, finding } of found) {
    const { mend, namespace = null, ...rest } = finding;
    let { message } = rest;
    let fixed = false;
    if (fix && mend !== undefined) {
      try {
        await mend();
        fixed = true;
      } catch (error) {
        message += ` It could not be mended: ${error instanceof Error ? error.message : "unknown"}.`;
      }
      if (fixed && ctx !== null) {
        const details = { check, mended: 1 };
        await recordAudit(ctx, {
          event: "doctor.fixed",
          namespace: finding.namespace,
          subject: finding.subject,
          details,
        });
      }
    }
    told.push({ check, ...rest, message, namespace, fixable: mend !== undefined, fixed });
  }
  const still = new Set((await lookAll(folderCheckups, about, countChecks(true, quiet))).map(keyOf));
  const isOfFolder = new Set(folderCheckups.map(({ name }) => name));
  // Opening the database has put the modes of its files right, whether that was asked for or not.
  for (const one of told)
    if (isOfFolder.has(one.check) && !still.has(keyOf({ ...one, finding: one }))) one.fixed = true;
  return told.sort((a, b) => severities.indexOf(b.severity) - severities.indexOf(a.severity));
}

const quiet = {} as ExamineOptions;

function keyOf({ check, finding }: { check: string; finding: Pick<Finding, "subject" | "remedy"> }): string {
  return JSON.stringify([check, finding.subject, finding.remedy]);
}

function worstOf({ findings, drift, notes }: Pick<Examination, "findings" | "drift" | "notes">): Severity | "ok" {
  if (drift.some(({ fixed }) => !fixed)) return "error";
  const left = new Set(findings.filter(({ fixed }) => !fixed).map(({ severity }) => severity));
  if (notes.length > 0) left.add("note");
  return severities.findLast((severity) => left.has(severity)) ?? "ok";
}
