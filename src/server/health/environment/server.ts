import { statSync } from "node:fs";
import { sql } from "drizzle-orm";
import { envFilePath, findUnknownSettings } from "../../config/env-file.ts";
import { locateFailure } from "../../db/failure.ts";
import { isServerRunning } from "../../db/local/file-lock.ts";
import { notDurable, ServerDatabase } from "../../db/server/server-database.ts";
import { get, statement } from "../../db/statement.ts";
import { AppError, unavailable } from "../../errors.ts";
import { auditLog } from "../../modules/audit/table.ts";
import { events } from "../../modules/events/table.ts";
import { readServerStatus } from "../../monitoring/control-socket.ts";
import type { ServerStatus } from "../../monitoring/read-status.ts";
import { checkCertificate, readCertificate } from "../../tls/certificate.ts";
import { formatDuration } from "../../values/duration.ts";
import { type CheckSubject, type EnvironmentCheck, type Finding, finding } from "../finding.ts";

const retryMs = 500;

export const server = {
  id: "server",
  about:
    "A server runs on the data directory, all of its workers run, answer and are ready, it is of the same version as this program and has its present settings.",
  async run({ config, timeoutMs, version: own, command }) {
    const { dataDir, databaseUrl } = config;
    // The servers of a libSQL database may run on other machines.
    if (databaseUrl !== undefined) return [];
    if (!(await isServerRunning(dataDir))) {
      return [finding("note", dataDir, `No server runs on ${dataDir}.`, command("serve"))];
    }
    const status: Status | null = await readServerStatus(dataDir, AbortSignal.timeout(timeoutMs));
    if (status === null) {
      const message = `A server runs on ${dataDir} but does not answer on its control socket. It is starting, it hangs, or it belongs to another account.`;
      return [finding("warning", dataDir, message, "Check its log. If it hangs, restart it.")];
    }
    const { version, pid } = status;
    const message = `The server (process ${pid}) is version ${version}, and this program is version ${own}.`;
    const remedy = "Restart the server to run the installed version.";
    const old = version === own ? [] : [finding("warning", dataDir, message, remedy)];
    const settingsFile = envFilePath(dataDir);
    const changedAt = statSync(settingsFile, { throwIfNoEntry: false })?.mtimeMs ?? 0;
    const isUnread = status.started_at !== undefined && changedAt > Date.parse(status.started_at);
    const changed = `${settingsFile} was changed after the server started.`;
    const reload = "Restart the server, which reads it only when it starts.";
    const unread = isUnread ? [finding("warning", settingsFile, changed, reload)] : [];
    const unready = new Set((status.processes ?? []).flatMap(({ unready }) => unready ?? []));
    const faults = [...unready].map((reason) => {
      const fault = locateFailure(unavailable(reason, { isInternal: true }), config, command) as AppError;
      return finding("error", dataDir, `The server is not ready: ${reason}`, fault.remedy ?? null);
    });
    return [...(await findFailingWorkers(dataDir, timeoutMs, status)), ...faults, ...old, ...unread];
  },
} satisfies EnvironmentCheck;

/** The part of a `ServerStatus` that all versions have. */
type Status = Pick<ServerStatus, "version" | "pid" | "workers"> & Partial<ServerStatus>;

/** Workers that do not run or answer at two checks in a row; one that is only busy or starting answers the second. */
async function findFailingWorkers(dataDir: string, timeoutMs: number, first: Status): Promise<Finding[]> {
  const namesOf = (status: Status | null) =>
    new Set((status?.processes ?? []).flatMap(({ name, answers }) => (answers ? [] : [name])));
  const silent = namesOf(first);
  if (silent.size === 0) return [];
  await Bun.sleep(retryMs);
  const { size } = silent.intersection(namesOf(await readServerStatus(dataDir, AbortSignal.timeout(timeoutMs))));
  const { workers, pid } = first;
  const message = `${workers - size} of ${workers} workers of the server (process ${pid}) answer. It replaces one that hangs after ten seconds, and keeps trying to start one that ends.`;
  return size === 0
    ? []
    : [finding("error", "workers", message, "Read the server's log. It names workers that hang or end, and why.")];
}

export const tls = {
  id: "tls",
  about:
    "The certificate of the server matches its key and its name, is valid for long enough, and its key is private.",
  async run({ config: { tls: files, publicUrl }, now }) {
    if (files === undefined) return [];
    try {
      return await checkCertificate(await readCertificate(files), files, { now: now(), publicUrl });
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      const remedy = `Write the certificate chain to ${files.cert} and its key to ${files.key}. A running server reloads them.`;
      return [finding("error", files.cert, error.message, remedy)];
    }
  },
} satisfies EnvironmentCheck;

export const settings = {
  id: "settings",
  about: "Every BODEGA_ variable of the environment and of bodega.env is a setting.",
  async run({ config: { dataDir }, env }) {
    const found = findUnknownSettings(env, dataDir);
    return found.map(({ subject, message }) => finding("warning", subject, message, "Correct or remove it."));
  },
} satisfies EnvironmentCheck;

export const durability = {
  id: "durability",
  about: "The libSQL server acknowledges a write only when it is on its disk.",
  async run({ ctx, config: { databaseUrl } }) {
    if (!(ctx?.db instanceof ServerDatabase) || (await ctx.db.isDurable())) return [];
    const remedy = "Set its durability_mode to strong, after each of its starts.";
    return [finding("error", databaseUrl ?? "database", notDurable, remedy)];
  },
} satisfies EnvironmentCheck;

const minSkewMs = 10_000;
/** One-time codes tolerate half a minute; everything else more. */
const severeSkewMs = 5 * 60_000;

const present = sql<string>`strftime('%Y-%m-%dT%H:%M:%fZ', 'now')`;
const selectNow = statement((q) => q.select({ at: present }).from(sql`(select 1)`));
// The newest rows by sequence, which does not depend on the clock.
const newestRows = sql`(
  select * from (select at from ${auditLog} order by seq desc limit 1)
  union all select * from (select created_at as at from ${events} order by sequence desc limit 1))`;
export const selectNewest = statement((q) => q.select({ at: sql<string | null>`max(at)` }).from(newestRows));

export const clock = {
  id: "clock",
  about: "The clock of this machine agrees with the data, the database server, the public URL and S3.",
  async run(subject) {
    const { ctx, config, now } = subject;
    const { publicUrl, s3, databaseUrl } = config;
    const bucket = s3 && (s3.endpoint ?? `https://s3.${s3.region}.amazonaws.com`);
    const urls = [publicUrl && `${publicUrl}/health/live`, bucket].filter((url) => url !== undefined);
    const compared = urls.map((url) => compareClock(new URL(url).origin, now, () => readDate(url, subject)));
    if (ctx && databaseUrl !== undefined) {
      compared.push(compareClock("the database server", now, async () => (await get(ctx.db, selectNow))?.at));
    }
    const newest = ctx && (await get(ctx.db, selectNewest))?.at;
    // Only data from the future shows a wrong clock. A minute is tolerated, because several machines may write.
    if (newest && Date.parse(newest) - now() > 60_000) {
      compared.push(compareClock(`the newest data (${newest})`, now, async () => newest));
    }
    return (await Promise.all(compared)).flat();
  },
} satisfies EnvironmentCheck;

async function readDate(url: string, { timeoutMs }: CheckSubject): Promise<string | undefined> {
  // With a wrong clock, a right certificate seems expired.
  const untrusted = { tls: { rejectUnauthorized: false }, signal: AbortSignal.timeout(timeoutMs) };
  // The checks of the address and of the backups report one that cannot be reached.
  const reply = await fetch(url, { method: "HEAD", redirect: "manual", ...untrusted }).catch(() => null);
  return reply?.headers.get("date") ?? undefined;
}

/** Compares this machine's clock, `now`, with another one, which is read between two readings of it. */
async function compareClock(name: string, now: () => number, read: () => Promise<string | undefined>) {
  const before = now();
  const theirs = Date.parse((await read()) ?? "");
  const after = now();
  const skew = theirs > after ? theirs - after : theirs < before ? theirs - before : 0;
  if (Math.abs(skew) < minSkewMs) return [];
  const way = skew > 0 ? "behind" : "ahead of";
  const message = `The clock of this machine is ${formatDuration(skew)} ${way} ${name}. One-time codes and signed requests fail.`;
  return [finding(Math.abs(skew) > severeSkewMs ? "error" : "warning", "clock", message, "timedatectl set-ntp true")];
}
