import { existsSync } from "node:fs";
import { commandLockDeadlineMs, openConfiguredDatabase } from "../admin/open-database.ts";
import { withTimeout } from "../concurrency/with-timeout.ts";
import type { Config } from "../config/config.ts";
import { standbyFile } from "../config/data-dir.ts";
import type { SystemCtx } from "../context.ts";
import { type CommandLine, locateFailure, nameDatabase } from "../db/db-errors.ts";
import type { Database } from "../db/session.ts";
import type { AppError } from "../errors.ts";
import { recordAudit } from "../modules/audit/service.ts";
import { requireTenant } from "../modules/tenants/service.ts";
import { attempt } from "../values/attempt.ts";
import { checkDatabase } from "./database/check-database.ts";
import { describeDamage } from "./database/reader.ts";
import { checkBackups, checkReplication, checkRestoreTest, checkStandby } from "./environment/backups.ts";
import { checkDirectory, checkDisk, checkFiles } from "./environment/data-dir.ts";
import { checkPayments } from "./environment/payments.ts";
import { checkPublicUrl } from "./environment/public-url.ts";
import * as server from "./environment/server.ts";
import * as stores from "./environment/stores.ts";
import {
  type CheckSubject,
  type Finding,
  type Findings,
  finding,
  type Group,
  type RecordSubject,
  type ReportedFinding,
  reasonOf,
  type Severity,
  type StoreSubject,
  severities,
} from "./finding.ts";
import * as orders from "./records/orders.ts";
import * as products from "./records/products.ts";

/** The functions of checks, by name. A check does not depend on the findings of other checks. */
type Checks<Subject> = Record<string, (subject: Subject) => Findings>;

const directoryChecks: Checks<CheckSubject> = { directory: checkDirectory, files: checkFiles, disk: checkDisk };
const serverChecks: Checks<CheckSubject> = {
  ...{ settings: server.checkSettings, server: server.checkServer, durability: server.checkDurability },
  ...{ secret: server.checkSecretKey, replication: checkReplication, restore: checkRestoreTest },
  ...{ mail: server.checkMail, tls: server.checkTls, address: checkPublicUrl },
};
const databaseChecks: Checks<StoreSubject> = { clock: server.checkClock, backups: checkBackups };
/** Checks that also run for one store (`-n`). */
const storeChecks: Checks<StoreSubject> = {
  ...{ stores: stores.checkStores, taxes: stores.checkTaxes, accounts: stores.checkAccounts, keys: stores.checkKeys },
  ...{ outbox: stores.checkOutbox, webhooks: stores.checkWebhooks, payments: checkPayments },
};
/** The checks run in this order, because later checks compute values from those that earlier checks have fixed. */
const recordChecks: Checks<RecordSubject> = {
  ...{ states: orders.orderStates, stock: products.reservedStock, variants: products.variantSums },
  ...{ replies: products.storedReplies, totals: orders.orderTotals, pieces: orders.orderPieces },
  ...{ discounts: orders.discountCounts, numbers: orders.numbers },
  ...{ rewards: orders.rewards, points: orders.orderPoints, resources: products.resourceTotals },
  ...{ counts: products.productCounts, pictures: products.pictureUses, search: products.searchIndex },
};
export const environmentChecks = [directoryChecks, serverChecks, databaseChecks, storeChecks].flatMap(Object.keys);
/** Checks that `--ignore` can omit. Other checks always run, because they open the directory and the database. */
export const optionalChecks = [
  ...["text", "integrity", "references", "standby"],
  ...[...environmentChecks, ...Object.keys(recordChecks)].filter((id) => id !== "directory"),
];

export type DoctorOptions = RunOptions & { deps: DoctorDeps };

interface DoctorDeps extends Pick<CheckSubject, "now" | "env" | "version" | "uid" | "timeoutMs" | "command"> {
  makeContext(db: Database, config: Config, options: { leaveModes: boolean }): Promise<SystemCtx>;
}

/** Checks the environment of a server, its database and its records. A server may be running. Errors: notFound. */
export async function runDoctor(config: Config, options: DoctorOptions): Promise<Report> {
  const { namespace, deps } = options;
  const run = new Run(options);
  const subject: CheckSubject = { ...deps, config, ctx: null, tenant: null };
  if (config.databaseUrl === undefined && existsSync(standbyFile(config.dataDir))) {
    await run.runEnvironment({ ...directoryChecks, settings: server.checkSettings, standby: checkStandby }, subject);
    return run.report();
  }
  const isAll = namespace === undefined;
  if (isAll) await run.runEnvironment(directoryChecks, subject);
  const step = (check: string, work: () => Findings) => run.add("database", check, work);
  let db: Database | null = null;
  let ctx: SystemCtx | null = null;
  try {
    if (await checkDatabase(config, { command: deps.command, isQuick: !isAll, step })) {
      db = await openConfiguredDatabase(config, { lockDeadlineMs: commandLockDeadlineMs, leaveModes: true });
      ctx = await deps.makeContext(db, config, { leaveModes: true });
    }
  } catch (error) {
    const located = locateFailure(error, config, deps.command);
    const remedy = (located as Partial<AppError>).remedy ?? "Check that this account can read the data directory.";
    await step("database", () => [finding("error", nameDatabase(config), reasonOf(located), remedy)]);
  }
  try {
    if (isAll) await run.runEnvironment(serverChecks, { ...subject, ctx });
    await run.applyFixes(ctx);
    if (ctx !== null) {
      const ofStores = { ...subject, ctx, tenant: isAll ? null : await requireTenant(ctx, namespace) };
      await run.runEnvironment(isAll ? { ...databaseChecks, ...storeChecks } : storeChecks, ofStores);
      await run.runRecords(ofStores);
    }
  } finally {
    await db?.close();
  }
  return run.report();
}

/** `findings` starts with errors; `passed` lists checks without findings; `worst` ignores findings that were fixed. */
export type Report = ReturnType<Run["report"]>;

export interface RunOptions {
  namespace?: string | undefined;
  fix?: boolean;
  skip?: string[];
  strict?: boolean;
  running?: Set<string>;
  deps: { timeoutMs: number; command: CommandLine };
}

/** The time limit of a check of the environment is this many times the time limit of a connection. */
const maxTimeouts = 3;

export class Run {
  readonly #options: RunOptions;
  readonly #checked = new Map<string, Group>();
  readonly #findings: ReportedFinding[] = [];

  constructor(options: RunOptions) {
    this.#options = options;
  }

  async add(group: Group, check: string, work: () => Findings | Promise<Findings>): Promise<Finding[]> {
    const { skip, running } = this.#options;
    if (skip?.includes(check)) return [];
    this.#checked.set(check, group);
    running?.add(check);
    const found = await Array.fromAsync(await work());
    for (const one of found) {
      this.#findings.push({ group, check, namespace: null, ...one, fixable: one.fix !== undefined, fixed: false });
    }
    running?.delete(check);
    return found;
  }

  /** Runs a check. Its error becomes a finding, so that the findings of other checks are still reported. */
  #try(group: Group, check: string, work: () => Promise<Finding[]>): Promise<Finding[]> {
    const fail = (error: unknown) => {
      const message = `This check failed: ${attempt(() => describeDamage(error)) ?? reasonOf(error)}`;
      const remedy = this.#options.deps.command(group === "environment" ? "doctor" : "db check");
      return [finding("error", check, message, remedy)];
    };
    return this.add(group, check, () => work().catch(fail));
  }

  async runEnvironment<Subject extends CheckSubject>(checks: Checks<Subject>, subject: Subject): Promise<void> {
    const limitMs = this.#options.deps.timeoutMs * maxTimeouts;
    const run = ([id, check]: [string, Checks<Subject>[string]]) =>
      this.#try("environment", id, () => withTimeout(Array.fromAsync(check(subject)), limitMs));
    await Promise.all(Object.entries(checks).map(run));
  }

  async runRecords(subject: RecordSubject): Promise<void> {
    for (const [id, check] of Object.entries(recordChecks)) {
      await this.#try("records", id, () => Array.fromAsync(check(subject)));
      await this.applyFixes(subject.ctx);
    }
  }

  /** With `fix`, tries to fix each problem once, and records the fixed problems in the audit log. */
  async applyFixes(ctx: SystemCtx | null): Promise<void> {
    for (const reported of this.#options.fix ? this.#findings : []) {
      const { check, subject, namespace, fix } = reported;
      if (fix === undefined) continue;
      reported.fix = undefined;
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
  }

  report() {
    const findings = this.#findings.toSorted((a, b) => severities.indexOf(b.severity) - severities.indexOf(a.severity));
    const worst: Severity | "ok" = findings.find(({ fixed }) => !fixed)?.severity ?? "ok";
    const passed: Record<Group, string[]> = { environment: [], records: [], database: [] };
    for (const [id, group] of this.#checked) if (!findings.some(({ check }) => check === id)) passed[group].push(id);
    const ok = worst !== "error" && !(this.#options.strict && worst === "warning");
    return { ok, worst, checked: [...this.#checked.keys()], passed, findings };
  }
}
