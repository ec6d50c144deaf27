import { withTimeout } from "../concurrency/with-timeout.ts";
import type { SystemCtx } from "../context.ts";
import type { CommandLine } from "../db/db-errors.ts";
import { recordAudit } from "../modules/audit/service.ts";
import { describeDamage } from "./database/reader.ts";
import type { CheckSubject, Finding, Findings, Group, RecordSubject, ReportedFinding, Severity } from "./finding.ts";
import { finding, reasonOf, severities } from "./finding.ts";
import { checkDueOrders, numbers, orderPoints, orderStates, orderTotals, refunds, rewards } from "./records/orders.ts";
import {
  dayCounts,
  pictureUses,
  productCounts,
  reservedStock,
  resourceTotals,
  searchIndex,
  storedReplies,
  variantSums,
} from "./records/products.ts";

/** A check of each name. Its findings do not depend on those of other checks. */
export type Checks<Subject> = Record<string, (subject: Subject) => Findings>;

/** In the order in which they run: values from which others are computed come first. */
export const recordChecks: Checks<RecordSubject> = {
  ...{ states: orderStates, stock: reservedStock, variants: variantSums, replies: storedReplies, totals: orderTotals },
  ...{ refunds, numbers, rewards, points: orderPoints, days: dayCounts, resources: resourceTotals },
  ...{ counts: productCounts, pictures: pictureUses, search: searchIndex, orders: checkDueOrders },
};

/** `findings` begins with the worst; `passed` has no findings; `worst` is the worst remaining severity. */
export type Report = ReturnType<Run["report"]>;

export interface RunOptions {
  namespace?: string | undefined;
  fix?: boolean;
  skip?: string[];
  /** Counts warnings as failures. */
  strict?: boolean;
  onProgress?: ((running: readonly string[]) => void) | undefined;
  deps: { timeoutMs: number; command: CommandLine };
}

/** A check of the environment may take this many times the time limit of a connection. */
const maxTimeouts = 3;

export class Run {
  readonly #options: RunOptions;
  readonly #running = new Set<string>();
  readonly #checked = new Map<string, Group>();
  readonly #findings: ReportedFinding[] = [];
  readonly #fixes = new Map<ReportedFinding, () => unknown>();

  constructor(options: RunOptions) {
    this.#options = options;
  }

  async add(group: Group, check: string, work: () => Findings | Promise<Findings>): Promise<void> {
    const { skip, onProgress } = this.#options;
    if (skip?.includes(check)) return;
    this.#checked.set(check, group);
    this.#running.add(check);
    onProgress?.([...this.#running]);
    for (const { fix, namespace = null, ...rest } of await Array.fromAsync(await work())) {
      const reported = { group, check, ...rest, namespace, fixable: fix !== undefined, fixed: false };
      this.#findings.push(reported);
      if (fix !== undefined) this.#fixes.set(reported, fix);
    }
    this.#running.delete(check);
    onProgress?.([...this.#running]);
  }

  readonly databaseStep = (check: string, work: () => Findings) => this.add("database", check, work);

  /** Runs one check. Its error becomes a finding, so that it does not hide the findings of others. */
  #try(group: Group, check: string, work: () => Promise<Finding[]>): Promise<void> {
    const fail = (error: unknown) => {
      const message = `This check failed: ${describeDamage(error) ?? reasonOf(error)}`;
      return [finding("error", check, message, this.#options.deps.command("db check"))];
    };
    return this.add(group, check, () => work().catch(fail));
  }

  async runEnvironment<Subject extends CheckSubject>(checks: Checks<Subject>, subject: Subject): Promise<void> {
    const limitMs = this.#options.deps.timeoutMs * maxTimeouts;
    const run = ([id, check]: [string, Checks<Subject>[string]]) =>
      this.#try("environment", id, () => withTimeout(Array.fromAsync(check(subject)), limitMs));
    await Promise.all(Object.entries(checks).map(run));
  }

  /** Runs the checks of records in order and, if requested, fixes what each finds. */
  async runRecords(subject: RecordSubject): Promise<void> {
    for (const [id, check] of Object.entries(recordChecks)) {
      await this.#try("records", id, () => Array.fromAsync(check(subject)));
      await this.applyFixes(subject.ctx);
    }
  }

  /** If requested, fixes what was found since the last call, and records it in the audit log. */
  async applyFixes(ctx: SystemCtx | null): Promise<void> {
    for (const [reported, fix] of this.#options.fix ? this.#fixes : []) {
      const { check, subject, namespace } = reported;
      try {
        await fix();
        reported.fixed = true;
      } catch (error) {
        reported.message += ` The fix failed: ${reasonOf(error)}.`;
        continue;
      }
      const details = { check, fixed: 1 };
      if (ctx) await recordAudit(ctx, { event: "doctor.fixed", namespace: namespace ?? undefined, subject, details });
    }
    this.#fixes.clear();
  }

  report() {
    const findings = this.#findings.toSorted((a, b) => severities.indexOf(b.severity) - severities.indexOf(a.severity));
    const worst: Severity | "ok" = findings.find(({ fixed }) => !fixed)?.severity ?? "ok";
    const failed = new Set(findings.map(({ check }) => check));
    const passed: Record<Group, string[]> = { environment: [], records: [], database: [] };
    for (const [check, group] of this.#checked) if (!failed.has(check)) passed[group].push(check);
    const ok = worst !== "error" && !(this.#options.strict && worst === "warning");
    return { ok, worst, checked: [...this.#checked.keys()], passed, findings };
  }
}
