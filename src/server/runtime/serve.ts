import { existsSync } from "node:fs";
import { openConfiguredDatabase, withConfiguredDatabase } from "../admin/open-database.ts";
import { removeStaleRestores } from "../backup/restore/temp-dir.ts";
import { scheduleBackups } from "../backup/schedule.ts";
import type { Config } from "../config/config.ts";
import { databaseFile, refuseStandby, standbyFile } from "../config/data-dir.ts";
import { findUnknownSettings } from "../config/environment.ts";
import { locateFailure } from "../db/db-errors.ts";
import { BallastFile } from "../db/local/ballast-file.ts";
import { FileDatabase } from "../db/local/file-database.ts";
import { acquireServerLock } from "../db/local/file-lock.ts";
import { findPending } from "../db/migrate.ts";
import type { Database } from "../db/session.ts";
import { AppError, unavailable, validationFailed } from "../errors.ts";
import { createLogWriter, type LogWriter } from "../logging/logger.ts";
import { describeFault } from "../logging/request-log.ts";
import { openMediaBucket } from "../modules/media/service.ts";
import { shareCores } from "../modules/passwords/password-hash.ts";
import { hasTenants } from "../modules/tenants/service.ts";
import { requestServer } from "../monitoring/listeners.ts";
import { openReplica } from "../replication/target.ts";
import { claimDatabase, isKeyOpen, openVault } from "../security/secret-key.ts";
import type { Vault } from "../security/vault.ts";
import { type CertificateWatcher, watchCertificate } from "../tls/watch-certificate.ts";
import { quoteWord } from "../values/shell-quote.ts";
import { type JobOptions, startBackgroundJobs } from "./background-jobs.ts";
import { openHttpPort } from "./http-port.ts";
import { listen } from "./listen.ts";
import { type ServerMonitor, startMonitor, startWorkerMonitor } from "./monitor.ts";
import { addressOf, openPort, othersOf, type Port, reservePort } from "./port.ts";
import { prepareDatabase } from "./prepare-database.ts";
import { graceMs, lastLinesMs, lastStopMs, limitShutdown, nextStopSignal } from "./shutdown.ts";
import { isSuccessor, prepareSuccession } from "./succession.ts";
import { startWorkers } from "./workers.ts";

export interface ServerProcess extends Omit<JobOptions, "vault" | "log"> {
  print: (text: string) => Promise<unknown>;
  writeLog: (text: string) => Promise<unknown>;
  prepare?: (db: Database, vault: Vault) => Promise<void>;
  onReady?: (url: string) => Promise<void>;
}

interface Run extends ServerProcess {
  log: LogWriter;
  stopSignal: Promise<string>;
  succession: ReturnType<typeof prepareSuccession>;
  port?: Port;
}

/**
 * Runs a server. Returns the exit code after SIGTERM, SIGINT or the end of its terminal. A second signal ends the
 * process at once.
 * @throws unavailable with exit code 1 if the port, the data directory or the database cannot be opened; conflict if
 * another server has claimed the replica; wrongState if a restart cannot help, as after the database was removed.
 */
export async function runServer(config: Config, self: ServerProcess): Promise<number> {
  const log = createLogWriter(config.log, self.writeLog, config.logLevel, config.workers > 1 ? "ofSeveral" : "ofOne");
  // An unhandled rejection must not end the server, so it is only logged.
  process.removeAllListeners("unhandledRejection");
  process.on("unhandledRejection", (error) => log.notice("error", `unexpected error: ${describeFault(error)}`));
  const stopSignal = nextStopSignal(config.isWorker);
  const run: Run = { ...self, log, stopSignal, succession: prepareSuccession(self.command, self.env, log.notice) };
  try {
    if (config.isWorker) return await runWorker(config, run);
    if (isSuccessor(run.env)) run.port = await openBeside(config, log);
    const waitMs = run.port && lastStopMs;
    const lock = config.databaseUrl === undefined ? await acquireServerLock(config.dataDir, waitMs) : { close() {} };
    if (!lock) {
      refuseStandby(config.dataDir);
      throw unavailable(
        `Another server uses ${config.dataDir}. Stop it, choose another --data-dir, or use more processors with --workers.`,
      );
    }
    try {
      await removeStaleRestores(config.dataDir);
      return await runMain(config, run);
    } catch (error) {
      throw locateFailure(error, config);
    } finally {
      lock.close();
    }
  } catch (error) {
    if (!(error instanceof AppError && error.kind === "unavailable")) throw error;
    // systemd restarts the server after exit code 1, but not after 4, which is the default of `unavailable`.
    throw unavailable(error.message, { remedy: error.remedy, isInternal: error.isInternal, exit: 1, cause: error });
  } finally {
    // A blocked log must not delay the exit, so the wait has a limit.
    await Promise.race([log.flush(), Bun.sleep(lastLinesMs)]);
  }
}

/** Shares the port with the running server, and waits until that server ends. Throws as `checkStart`. */
async function openBeside(config: Config, log: LogWriter): Promise<Port> {
  const certificate = await openTls(config, log);
  // All checks come before the port is open: requests that wait in this process would be lost with it.
  await checkStart(config);
  const port = openPort(config, certificate?.current() ?? null);
  const refusal = await requestServer(config.dataDir, `/listening?pid=${process.pid}`, lastStopMs);
  if (refusal) throw unavailable("The running server did not start this process as its successor.");
  return port;
}

/**
 * Checks, while the present server still runs, that this process could serve in its place: database, key, accounts for
 * S3, and the port for certificates. Throws the error with which this process would end.
 */
async function checkStart(config: Config): Promise<void> {
  const { databaseUrl, dataDir, replicateTo, acme } = config;
  const file = databaseFile(dataDir);
  if (databaseUrl === undefined && !existsSync(file)) throw unavailable(`${file} is missing. Put it back.`);
  openMediaBucket(config);
  scheduleBackups(config);
  if (replicateTo !== undefined) openReplica(replicateTo, config);
  await withConfiguredDatabase(config, async (db) => {
    await findPending(db);
    (await openVault(config, db)).fingerprint();
    if (acme) await (await openHttpPort(config, acme, db, true)).stop();
  });
}

async function becomeServer(config: Config, { log: { notice }, stopSignal }: Run): Promise<Config> {
  if (config.databaseUrl !== undefined || !existsSync(standbyFile(config.dataDir))) return config;
  await reservePort(config);
  const stop = new AbortController();
  void stopSignal.then((signal) => stop.abort(unavailable(`${signal}: the standby did not take over.`)));
  return (await import("../replication/take-over.ts")).takeOver(config, { notice, signal: stop.signal });
}

async function runMain(given: Config, run: Run): Promise<number> {
  const { version, log, stopSignal, succession } = run;
  for (const { message } of findUnknownSettings(run.env, given.dataDir)) log.notice("warn", message);
  const openKey =
    "Other accounts of this machine could read secret.key. If one may have copied it, replace the key: bodega db rekey";
  if (isKeyOpen(given.dataDir)) log.notice("warn", openKey);
  const certificate = await openTls(given, log);
  const config = await becomeServer(given, run);
  const port = run.port?.port ?? (config.port === 0 && config.workers === 1 ? 0 : await reservePort(config));
  if (config.databaseUrl === undefined) new BallastFile(databaseFile(config.dataDir)).makeRoomToStart();
  const db = await openServedDatabase(config);
  try {
    const vault = await prepareDatabase(config, db, log);
    await run.prepare?.(db, vault);
    const jobs = await startBackgroundJobs(config, db, { ...run, vault });
    const options = { ...jobs, ...succession, version, log, certificate: () => certificate?.current() };
    // In a restored or promoted copy, the first job has just written the stored certificate.
    if (!run.port) await certificate?.poll(() => {});
    const monitor = startMonitor(config, db, options);
    const answering = await startAnswering({ ...config, port }, db, { run, vault, monitor, certificate });
    jobs.beginReplication();
    certificate?.start((pair) => answering.present(pair));
    await monitor.open(answering.url);
    await run.print(
      `Bodega ${version} listens on ${answering.url}${othersOf(config)}\nData directory: ${config.dataDir}\n`,
    );
    await run.onReady?.(answering.url);
    const notifySystemd = (await import("./notify-systemd.ts")).notifySystemd(run.env);
    succession.ready();
    if (!(await hasTenants(db))) {
      log.notice("info", `No store found. Create one: bodega init --data-dir ${quoteWord(config.dataDir)}`);
    }
    const end = await Promise.race([stopSignal, jobs.mustEnd, succession.successor]);
    notifySystemd(typeof end === "number" ? `MAINPID=${end}\nWATCHDOG_USEC=0` : "STOPPING=1");
    if (typeof end === "string") log.notice("info", `${end}: finishing requests in flight`);
    limitShutdown(log);
    certificate?.stop();
    await answering.stop(end instanceof AppError ? 0 : graceMs);
    monitor.stop();
    // If another server has claimed the replica (`conflict`), jobs are also stopped: replication sends its last changes.
    if (!(end instanceof AppError) || end.kind === "conflict") await jobs.stop();
    if (end instanceof AppError) throw end;
    return 0;
  } finally {
    await closeInPlace(db, log);
  }
}

async function startAnswering(
  config: Config,
  db: Database,
  deps: { run: Run; vault: Vault; monitor: ServerMonitor; certificate: CertificateWatcher | null },
) {
  const { run, vault, monitor, certificate } = deps;
  const { registry } = monitor;
  const answer = (port: Port) => listen(config, db, { ...run, vault, monitor, port });
  if (registry === undefined) return answer(run.port ?? openPort(config, certificate?.current() ?? null));
  // A successor answers requests until its workers do, and for one more second: clients repeat dropped connections.
  const early = run.port && answer(run.port);
  const group = await startWorkers(config, { ...run, registry });
  if (early) await Bun.sleep(1000).then(() => early.stop(graceMs));
  // Each worker watches the certificate itself, so the main process passes no new certificate on.
  return { ...group, url: addressOf(config), present() {} };
}

const openServedDatabase = (config: Config) =>
  openConfiguredDatabase(config, { hasCheckpointer: true, isReplicated: config.replicateTo !== undefined });

async function runWorker(config: Config, { version, log, stopSignal }: Run): Promise<number> {
  if (!process.send) throw validationFailed("BODEGA_CONFIG is reserved for the server's own workers. Unset it.");
  shareCores(config.workers);
  void stopSignal.then(() => limitShutdown(log));
  const db = await openServedDatabase(config);
  try {
    const vault = await openVault(config, db);
    await claimDatabase(db, vault);
    const monitor = startWorkerMonitor(db);
    // The main process logs the certificate, so a worker does not.
    const certificate = await openTls(config, { ...log, notice() {} });
    const port = openPort(config, certificate?.current() ?? null);
    const listener = listen(config, db, { version, vault, log, monitor, port });
    certificate?.start((next) => listener.present(next));
    process.send?.("ready");
    // `stopSignal` also resolves when the parent has ended, because nobody else would stop the worker.
    await stopSignal;
    certificate?.stop();
    await listener.stop(graceMs);
    monitor.stop();
    return 0;
  } finally {
    await closeInPlace(db, log);
  }
}

/** Closes the database. If its file was replaced, renames the WAL instead, because closing would remove it. */
async function closeInPlace(db: Database, log: LogWriter): Promise<void> {
  if (!(db instanceof FileDatabase) || db.isInPlace()) return db.close();
  const aside = db.quarantineWal();
  if (aside !== undefined) log.notice("error", `The WAL of the removed database file is kept as ${aside}.`);
}

async function openTls({ tls, acme, publicUrl }: Config, { notice }: LogWriter): Promise<CertificateWatcher | null> {
  return tls ? watchCertificate(tls, { acme, publicUrl, now: Date.now, notice }) : null;
}
