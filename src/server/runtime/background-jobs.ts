import { type CommandRun, scheduleBackups, scheduleRestoreTests, startSchedule } from "../backup/schedule.ts";
import { runEvery } from "../concurrency/run-every.ts";
import { type Config, paymentOptions } from "../config/config.ts";
import { invalidOption } from "../config/environment.ts";
import { startCheckpointer } from "../db/local/checkpoint.ts";
import { FileDatabase } from "../db/local/file-database.ts";
import { readBirth } from "../db/migrate.ts";
import type { Database } from "../db/session.ts";
import type { ChannelDeps } from "../delivery/channel.ts";
import { type AppError, wrongState } from "../errors.ts";
import { reasonOf, type StoreSubject } from "../health/finding.ts";
import type { LogWriter } from "../logging/logger.ts";
import { openMediaBucket } from "../modules/media/service.ts";
import { startPushDelivery } from "../modules/notifications/sending/delivery.ts";
import { pollEvents, readDueCheckouts } from "../modules/payments/jobs.ts";
import { createRefundEngine } from "../modules/payments/refund-delivery.ts";
import { createWebhookEngine } from "../modules/webhooks/delivery.ts";
import { openReplica } from "../replication/target.ts";
import type { Vault } from "../security/vault.ts";
import type { RenewDeps } from "../tls/acme/renew.ts";
import { parseFromAddress } from "../values/email.ts";
import { startAlerts } from "./alerts.ts";
import { startPurging } from "./purging.ts";
import { isSuccessor } from "./succession.ts";

const checkFileMs = 1000;
const durabilityMs = 5000;
/** How often payment pages are read. An overdue order expires after a read closes its page: up to 15 seconds late. */
const readPagesMs = 5000;

export interface JobOptions extends CommandRun {
  version: string;
  vault: Vault;
  log: LogWriter;
  /** Whether to start, and replace the newer changes, if the replica is newer than this database. */
  replaceReplica?: boolean | undefined;
}

export async function startBackgroundJobs(config: Config, db: Database, options: JobOptions) {
  const { vault, log } = options;
  const { notice } = log;
  // Replication starts before the other jobs, because nothing may be sent if another server has claimed the replica.
  const replicator = await startReplication(config, db, options);
  const deps = { db, vault, now: Date.now, notice };
  const renewal = await startCertificateRenewal(config, deps, isSuccessor(options.env));
  const mail = await startMailDelivery(config, deps);
  const webhooks = createWebhookEngine(deps).start(db, "webhook events stay queued");
  const pushes = startPushDelivery(config, deps);
  const paymentDeps = { ...deps, payments: paymentOptions(config) };
  const refunds = createRefundEngine(paymentDeps).start(db, "refunds stay requested");
  const readPages = async (isStopping: () => boolean) => {
    for (const job of [readDueCheckouts, pollEvents]) if (!isStopping()) await job(paymentDeps);
  };
  const pagesUnread = (error: unknown) =>
    notice("warn", `payment pages could not be read (${reasonOf(error)}); the next attempt is in 5 seconds`);
  const pages = runEvery(readPagesMs, readPages, pagesUnread);
  const checkpointer = db instanceof FileDatabase ? startCheckpointer(db, { notice }) : undefined;
  const [backupSchedule, testSchedule] = [scheduleBackups(config), scheduleRestoreTests(config)];
  const backups = backupSchedule && startSchedule(config, backupSchedule, { ...options, notice });
  void backups?.check();
  // No test runs at once, because the first snapshot or backup may not exist yet.
  const restoreTests = testSchedule && startSchedule(config, testSchedule, { ...options, notice });
  const databaseLost = Promise.withResolvers<AppError>();
  const checkingFile = setInterval(() => {
    if (!(db instanceof FileDatabase) || db.isInPlace()) return;
    const message = `The database in ${config.dataDir}, its -wal or its -shm file was removed or replaced.`;
    databaseLost.resolve(wrongState(message));
  }, checkFileMs);
  const { auditAddressesMs: keepAddressesMs } = config;
  const purging = startPurging({ db, vault, now: Date.now, media: openMediaBucket(config) }, keepAddressesMs, notice);
  const alerts = startAlerts(describeServer(config, db, options), notice);
  const watchingServer = db.kind === "server" ? watchServer(db, notice) : undefined;
  return {
    /** Starts to write the replica, which stops another server that writes it. Call this when requests are answered. */
    beginReplication: () => replicator?.begin(),
    replication: () => replicator?.status(),
    mustEnd: replicator ? Promise.race([databaseLost.promise, replicator.replaced]) : databaseLost.promise,
    async stop() {
      clearInterval(checkingFile);
      clearInterval(watchingServer);
      await Promise.all([alerts, purging, backups, restoreTests].map((job) => job?.stop()));
      await Promise.all([mail, webhooks, pushes, refunds, pages, renewal].map((job) => job?.stop()));
      await checkpointer?.stop();
      await replicator?.stop();
    },
  };
}

function describeServer(config: Config, db: Database, { vault, version, env }: JobOptions): StoreSubject {
  const ctx = { db, vault, now: Date.now, actor: { kind: "server" as const }, requestId: "" };
  const program = { version, env, uid: undefined, timeoutMs: 5000, command: (words: string) => `bodega ${words}` };
  return { config, ctx, tenant: null, now: Date.now, ...program };
}

function watchServer(db: Database, notice: LogWriter["notice"]): Timer {
  let problem: string | undefined;
  const check = async () => {
    const found = await db.checkWrites().then(() => db.warning, reasonOf);
    if (found !== undefined && found !== problem) notice("error", found);
    if (found === undefined && problem !== undefined) notice("info", "The libSQL server works again.");
    problem = found;
  };
  void check();
  return setInterval(check, durabilityMs);
}

/** Errors: validationFailed for a libSQL server, or a place whose credentials are missing; as `Replicator.check`. */
async function startReplication(config: Config, db: Database, { log, version, replaceReplica }: JobOptions) {
  const { replicateTo, replicateKeepMs: keepMs, dataDir } = config;
  if (replicateTo === undefined) return undefined;
  if (!(db instanceof FileDatabase)) {
    throw invalidOption("--replicate-to", "needs a database file. A libSQL server replicates its databases itself");
  }
  const { Replicator } = await import("../replication/replicator.ts");
  const place = openReplica(replicateTo, config);
  const database = await readBirth(db);
  const { notice } = log;
  const replicator = new Replicator(db, { place, keepMs, dataDir, version, database, replaceReplica, notice });
  await replicator.check();
  return replicator;
}

async function startCertificateRenewal(config: Config, deps: RenewDeps, isForced: boolean) {
  const { acme } = config;
  if (acme === undefined) return undefined;
  const { startRenewal } = await import("../tls/acme/renew.ts");
  const { openHttpPort } = await import("./http-port.ts");
  const port = await openHttpPort(config, acme, deps.db, isForced || config.databaseUrl !== undefined);
  const renewal = await startRenewal(acme, deps, isForced);
  return { stop: () => Promise.all([port.stop(), renewal.stop()]) };
}

async function startMailDelivery(config: Config, deps: ChannelDeps & { db: Database }) {
  const { smtpUrl: url, mailFrom, backOffice, publicUrl } = config;
  const from = mailFrom === undefined ? null : parseFromAddress(mailFrom);
  if (url === undefined || from === null) return undefined;
  const { createMailEngine } = await import("../modules/mail/delivery.ts");
  const engine = createMailEngine({ ...deps, smtp: { url }, from, backOffice: backOffice ? publicUrl : undefined });
  return engine.start(deps.db, "mail stays queued");
}
