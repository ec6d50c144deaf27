import { removeStaleTempDirs } from "../backup/restore/temp-dir.ts";
import type { Config } from "../config/config.ts";
import type { Environment } from "../config/environment.ts";
import { acquireServerLock } from "../db/local/server-lock.ts";
import { openConfiguredDatabase } from "../db/open.ts";
import type { Database } from "../db/session.ts";
import { AppError, unavailable, validationFailed } from "../errors.ts";
import { createLogWriter, type LogWriter } from "../logging/logger.ts";
import { describeFault } from "../logging/request-log.ts";
import { shareCores } from "../modules/passwords/password-hash.ts";
import type { Vault } from "../security/vault.ts";
import type { CertificateWatcher } from "../tls/watch-certificate.ts";
import { startUpkeep } from "./background-jobs.ts";
import { type Listener, listen } from "./listen.ts";
import { startWatching, watchWorker } from "./monitor.ts";
import { addressOf, reservePort } from "./port.ts";
import { openServerVault, prepareDatabase } from "./prepare-database.ts";
import { endInTime, graceMs, lastLinesMs, nextStopSignal } from "./shutdown.ts";
import { startWorkers, workerEnvironment } from "./workers.ts";

/** What a running server needs from the process that it runs in. */
export interface ServerProcess {
  version: string;
  env: Environment;
  /** How this program is started again, without arguments. */
  command: readonly string[];
  /** Standard output: the announcement, once requests are taken. */
  print: (text: string) => Promise<unknown>;
  /** Standard error: the log. */
  writeLog: (text: string) => Promise<unknown>;
  /** Runs on the migrated database before the first request is taken. */
  prepare?: (db: Database, vault: Vault) => Promise<void>;
  /** Runs after the announcement. */
  onReady?: (url: string) => Promise<void>;
}

/**
 * Serves until SIGTERM or SIGINT, then drains: ten seconds for what has begun, then hard. A second signal cuts at once.
 * @returns the exit code, 0 after a clean stop.
 * @throws unavailable when the port, the data directory or the database cannot be had.
 */
export async function runServer(config: Config, self: ServerProcess): Promise<number> {
  const log = createLogWriter(config.log, self.writeLog, config.logLevel);
  // A mistake in what nobody waits for must not take the shop down with it.
  process.removeAllListeners("unhandledRejection");
  process.on("unhandledRejection", (error) => log.notice("error", `unexpected: ${describeFault(error)}`));
  const stopSignal = nextStopSignal(config.isWorker);
  try {
    if (config.isWorker) return await runWorker(config, self, log, stopSignal);
    const lock = usesFile(config) ? await acquireServerLock(config.dataDir) : { release: () => {} };
    if (!lock) {
      throw unavailable(
        `Another server uses ${config.dataDir}. Stop it, or choose another --data-dir; --workers uses more processors.`,
      );
    }
    try {
      await removeStaleTempDirs(config.dataDir);
      return config.workers > 1
        ? await runGroup(config, self, log, stopSignal)
        : await runAlone(config, self, log, stopSignal);
    } finally {
      await lock.release();
    }
  } finally {
    // A log that nobody reads must not hold up the end.
    await Promise.race([log.flush(), Bun.sleep(lastLinesMs)]);
  }
}

function usesFile(config: Config): boolean {
  return config.databaseUrl === undefined;
}

async function runAlone(config: Config, self: ServerProcess, log: LogWriter, stopSignal: Promise<string>) {
  const certificate = await openTls(config, log);
  // Another certificate comes with another socket on the same port.
  const port = certificate ? await reservePort(config) : config.port;
  const db = await openConfiguredDatabase(config);
  let listener: Listener | undefined;
  try {
    const { vault, hasKey } = await prepareDatabase(config, db, log);
    await self.prepare?.(db, vault);
    const upkeep = await startUpkeep(config, db, hasKey ? vault : null, log, self);
    const first = certificate?.current() ?? null;
    const watching = startWatching(config, db, watchOptions(self, log, certificate));
    listener = listen({ ...config, port }, db, {
      version: self.version,
      vault,
      log,
      watched: watching,
      shared: first !== null,
      certificate: first,
    });
    const { present } = listener;
    certificate?.start(async (pair) => present(pair));
    await announce(config, self, listener.url, await watching.open(listener.url));
    await self.onReady?.(listener.url);
    const end = await Promise.race([stopSignal, upkeep.lost]);
    if (typeof end === "string") log.notice("info", `${end}: finishing what has begun`);
    endInTime(log);
    certificate?.stop();
    await listener.stop(typeof end === "string" ? graceMs : 0);
    watching.stop();
    if (end instanceof AppError) throw end;
    await upkeep.stop();
    return 0;
  } finally {
    await closeInPlace(db);
  }
}

/**
 * Closes a database whose files are in place. Otherwise closing would empty the log and remove it by its name, which may
 * belong to another file by now: there the log is only put where no later database can take it for its own.
 */
async function closeInPlace(db: Database): Promise<void> {
  if (db.isInPlace()) await db.close();
  else db.setWalAside();
}

async function runGroup(config: Config, self: ServerProcess, log: LogWriter, stopSignal: Promise<string>) {
  const certificate = await openTls(config, log);
  const port = await reservePort(config);
  const db = await openConfiguredDatabase(config);
  try {
    const { vault, hasKey } = await prepareDatabase(config, db, log);
    await self.prepare?.(db, vault);
    // The parent answers no requests; it alone empties the write-ahead log, for all of them.
    const upkeep = await startUpkeep(config, db, hasKey ? vault : null, log, self);
    const shared = { ...config, port };
    const watching = startWatching(config, db, watchOptions(self, log, certificate));
    const group = await startWorkers(shared, self.command, workerEnvironment(shared, self.env), log, watching.registry);
    certificate?.start(watching.presentEverywhere);
    const url = addressOf(config.host, port, certificate !== null);
    await announce(config, self, url, await watching.open(url));
    await self.onReady?.(url);
    const end = await Promise.race([stopSignal, group.failed, upkeep.lost]);
    if (typeof end === "string") log.notice("info", `${end}: workers finish what has begun`);
    endInTime(log);
    certificate?.stop();
    await group.stop(typeof end === "string" ? graceMs : 0);
    watching.stop();
    if (end instanceof AppError) throw end;
    await upkeep.stop();
    return 0;
  } finally {
    await closeInPlace(db);
  }
}

async function runWorker(config: Config, self: ServerProcess, log: LogWriter, stopSignal: Promise<string>) {
  if (!process.send) throw validationFailed("BODEGA_CONFIG is set for a server's own workers only. Unset it.");
  shareCores(config.workers);
  void stopSignal.then(() => endInTime(log));
  // A supervisor that signals the whole group means the parent, which looks for all of them.
  if (config.tls) process.on("SIGHUP", () => {});
  const db = await openConfiguredDatabase(config);
  try {
    const { vault } = await openServerVault(config, db, log);
    const watched = watchWorker(db);
    const certificate = config.tls ? await watched.fetchCertificate() : null;
    const { version } = self;
    const listener = listen(config, db, { version, vault, log, watched, shared: true, certificate });
    watched.follow(listener);
    process.send?.("ready");
    // Without its parent, too, a worker stops: it would hold the port with nobody to stop it.
    await stopSignal;
    await listener.stop(graceMs);
    watched.stop();
    return 0;
  } finally {
    await closeInPlace(db);
  }
}

/** Most servers stand behind a proxy that ends TLS: what is needed for it is loaded only where it is used. */
async function openTls(config: Config, log: LogWriter) {
  if (config.tls === undefined) return null;
  const { watchCertificate } = await import("../tls/watch-certificate.ts");
  return watchCertificate(config.tls, { publicUrl: config.publicUrl, now: Date.now, notice: log.notice });
}

function watchOptions({ version }: ServerProcess, log: LogWriter, certificate: CertificateWatcher | null) {
  return {
    version,
    log,
    certificateEnd: () => certificate?.current().until,
    certificate: () => certificate?.current(),
  };
}

async function announce(config: Config, self: ServerProcess, url: string, metrics: string | undefined): Promise<void> {
  const database = config.databaseUrl;
  const lines = [`Bodega ${self.version} listens on ${url}`, `Data directory: ${config.dataDir}`];
  if (database !== undefined) lines.push(`Database: ${withoutCredentials(database)}`);
  if (metrics !== undefined) lines.push(`Metrics: ${metrics}`);
  await self.print(`${lines.join("\n")}\n`);
}

function withoutCredentials(address: string): string {
  if (!URL.canParse(address)) return address;
  const { protocol, host } = new URL(address);
  return `${protocol}//${host}`;
}
