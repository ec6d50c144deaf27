import type { SystemCtx } from "../context.ts";
import type { CommandLine } from "../db/failure.ts";
import { recordAudit } from "../modules/audit/service.ts";
import { withTimeout } from "../values/with-timeout.ts";
import type { DatabaseSize } from "./database/reader.ts";
import {
  type CheckSubject,
  type EnvironmentCheck,
  type Finding,
  finding,
  type Group,
  type ReportedFinding,
  reasonOf,
  type Severity,
  type StoreSubject,
  severities,
} from "./finding.ts";
import { checkRecords } from "./records/check-records.ts";

/** `findings` has the worst first, `passed` the checks without findings, `worst` the worst severity that remains. */
export type Report = ReturnType<Run["report"]>;

export interface RunOptions {
  /** Checks only one store. */
  namespace?: string | undefined;
  /** Fixes what can be fixed, and records it in the audit log. */
  fix?: boolean;
  /** Checks that do not run. */
  skip?: string[];
  /** Counts warnings as failures. */
  strict?: boolean;
  /** Called as checks begin and end. */
  onProgress?: ((done: number, total: number, running: readonly string[]) => void) | undefined;
  deps: { timeoutMs: number; command: CommandLine };
}

/** A check takes at most this many times the time limit of a connection. */
const maxTimeouts = 3;

/** Runs checks and collects their findings. */
export class Run {
  readonly #options: RunOptions;
  readonly #total: number;
  readonly #running = new Set<string>();
  readonly #checked = new Map<string, Group>();
  readonly #findings: ReportedFinding[] = [];
  readonly #fixes = new Map<ReportedFinding, () => Promise<void>>();
  #done = 0;

  /** @param total the number of checks, for the progress. */
  constructor(options: RunOptions, total: number) {
    this.#options = options;
    this.#total = total;
  }

  /** Runs one check and adds its findings. Errors of the check are thrown. */
  async add(group: Group, check: string, work: () => Promise<Finding[]>): Promise<void> {
    this.#checked.set(check, group);
    await this.#track(check, async () => {
      for (const { fix, namespace = null, ...rest } of await work()) {
        const reported = { group, check, ...rest, namespace, fixable: fix !== undefined, fixed: false };
        this.#findings.push(reported);
        if (fix !== undefined) this.#fixes.set(reported, fix);
      }
    });
  }

  readonly databaseStep = async (check: string, work: () => Promise<Finding[]>) => {
    if (!this.#options.skip?.includes(check)) await this.add("database", check, work);
  };

  /** Runs checks concurrently. An error of one of them is a finding. */
  async runEnvironment(checks: readonly EnvironmentCheck[], subject: CheckSubject): Promise<void> {
    const { deps, skip } = this.#options;
    const { timeoutMs, command } = deps;
    const { ctx } = subject;
    const work = async (check: EnvironmentCheck): Promise<Finding[]> => {
      try {
        const found = check.reads ? check.run(subject as StoreSubject) : check.run(subject);
        return await withTimeout(found, timeoutMs * maxTimeouts);
      } catch (error) {
        return [finding("error", check.id, `This check failed: ${reasonOf(error)}`, command("db check"))];
      }
    };
    const runnable = checks.filter(({ id, reads }) => !skip?.includes(id) && (!reads || ctx !== null));
    await Promise.all(runnable.map((check) => this.add("environment", check.id, () => work(check))));
  }

  /** Fixes findings of the environment, if that was requested. */
  async applyFixes(ctx: SystemCtx | null): Promise<void> {
    if (!this.#options.fix) return;
    for (const [reported, fix] of this.#fixes) {
      try {
        await fix();
        reported.fixed = true;
      } catch (error) {
        reported.message += ` The fix failed: ${reasonOf(error)}.`;
        continue;
      }
      const { check, subject, namespace } = reported;
      const of = { namespace: namespace ?? undefined, subject };
      if (ctx !== null) await recordAudit(ctx, { event: "doctor.fixed", ...of, details: { check, fixed: 1 } });
    }
  }

  async runRecords(ctx: SystemCtx): Promise<void> {
    const { namespace, deps } = this.#options;
    const fixCommand = deps.command(`doctor${namespace === undefined ? "" : ` -n ${namespace}`} --fix`);
    const remedyFor = ({ severity, fixable, remedy }: ReportedFinding) =>
      remedy ?? (fixable ? fixCommand : severity === "error" ? deps.command("db check") : null);
    await this.#track("records", async () => {
      const { checked, findings } = await checkRecords(ctx, this.#options);
      for (const id of checked) this.#checked.set(id, "records");
      this.#findings.push(...findings.map((finding) => ({ ...finding, remedy: remedyFor(finding) })));
    });
  }

  /** @param database null where it cannot be opened. */
  report(database: ({ kind: string } & DatabaseSize) | null) {
    const findings = this.#findings.toSorted((a, b) => severities.indexOf(b.severity) - severities.indexOf(a.severity));
    const worst: Severity | "ok" = findings.find(({ fixed }) => !fixed)?.severity ?? "ok";
    const failed = new Set(findings.map(({ check }) => check));
    const names = [...this.#checked].filter(([check]) => !failed.has(check));
    const passed: Record<Group, string[]> = { environment: [], records: [], database: [] };
    for (const [check, group] of names) passed[group].push(check);
    const ok = worst !== "error" && !(this.#options.strict && worst === "warning");
    return { ok, worst, checked: [...this.#checked.keys()], passed, database, findings };
  }

  async #track(name: string, work: () => Promise<void>): Promise<void> {
    this.#running.add(name);
    this.#tell();
    await work();
    this.#running.delete(name);
    this.#done += 1;
    this.#tell();
  }

  #tell(): void {
    this.#options.onProgress?.(Math.min(this.#done, this.#total), this.#total, [...this.#running]);
  }
}
