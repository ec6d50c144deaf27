import { statSync } from "node:fs";
import { sql } from "drizzle-orm";
import { envFilePath, findUnknownSettings } from "../../config/environment.ts";
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
import { formatDuration } from "../../values/units.ts";
import { type CheckSubject, type EnvironmentCheck, finding } from "../finding.ts";

/** The part of a `ServerStatus` that all versions have. */
type Status = Pick<ServerStatus, "version" | "pid" | "workers"> & Partial<ServerStatus>;

/** Checks that a server runs, is ready with all workers, has this program's version, and has read its settings. */
export const server = {
  id: "server",
  async run({ config, timeoutMs, version: own, command }) {
    const { dataDir, databaseUrl } = config;
    // The servers of a libSQL database may be on other machines.
    if (databaseUrl !== undefined) return [];
    if (!(await isServerRunning(dataDir))) {
      return [finding("note", dataDir, `No server runs on ${dataDir}.`, command("serve"))];
    }
    const status = (await readServerStatus(dataDir, AbortSignal.timeout(timeoutMs))) as Status | null;
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
    const silent = (status.processes ?? []).filter(({ answers }) => !answers).length;
    const some = `${silent} of ${status.workers} workers of the server (process ${pid}) do not answer. It replaces one that hangs or ends.`;
    const advice =
      "Check again after ten seconds, and read the server's log. It names workers that hang or end, and why.";
    const hanging = silent === 0 ? [] : [finding("error", "workers", some, advice)];
    return [...hanging, ...faults, ...old, ...unread];
  },
} satisfies EnvironmentCheck;

export const tls = {
  id: "tls",
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
  async run({ config: { dataDir }, env }) {
    const found = findUnknownSettings(env, dataDir);
    return found.map(({ subject, message }) => finding("warning", subject, message, "Correct or remove it."));
  },
} satisfies EnvironmentCheck;

export const durability = {
  id: "durability",
  async run({ ctx, config: { databaseUrl } }) {
    if (!(ctx?.db instanceof ServerDatabase) || (await ctx.db.isDurable())) return [];
    const remedy = "Set its durability_mode to strong, after each of its starts.";
    return [finding("error", databaseUrl ?? "database", notDurable, remedy)];
  },
} satisfies EnvironmentCheck;

const minSkewMs = 10_000;
/** One-time codes tolerate half a minute; everything else tolerates more. */
const severeSkewMs = 5 * 60_000;

const present = sql<string>`strftime('%Y-%m-%dT%H:%M:%fZ', 'now')`;
const selectNow = statement((q) => q.select({ at: present }).from(sql`(select 1)`));
// The newest rows by sequence, which does not depend on the clock.
const newestRows = sql`(
  select * from (select at from ${auditLog} order by seq desc limit 1)
  union all select * from (select created_at as at from ${events} order by sequence desc limit 1))`;
export const selectNewest = statement((q) => q.select({ at: sql<string | null>`max(at)` }).from(newestRows));

/** The clock of this machine agrees with the data, the database server, the public URL and S3. */
export const clock = {
  id: "clock",
  async run(subject) {
    const { ctx, config, now } = subject;
    const { publicUrl, s3, databaseUrl } = config;
    const behindMs = async (name: string, at: Promise<string | undefined>) => {
      return { name, ms: Date.parse((await at) ?? "") - now() };
    };
    const bucket = s3 && (s3.endpoint ?? `https://s3.${s3.region}.amazonaws.com`);
    const urls = [publicUrl && `${publicUrl}/health/live`, bucket].filter((url) => url !== undefined);
    const compared = urls.map((url) => behindMs(new URL(url).origin, readDate(url, subject)));
    if (ctx && databaseUrl !== undefined) {
      compared.push(
        behindMs(
          "the database server",
          get(ctx.db, selectNow).then((row) => row?.at),
        ),
      );
    }
    const newest = ctx && (await get(ctx.db, selectNewest))?.at;
    // Only data from the future shows a wrong clock. A minute is tolerated, because several machines may write.
    if (newest && Date.parse(newest) - now() > 60_000) {
      compared.push(behindMs(`the newest data (${newest})`, Promise.resolve(newest)));
    }
    return (await Promise.all(compared)).flatMap(({ name, ms }) => {
      if (!(Math.abs(ms) > minSkewMs)) return [];
      const message = `The clock of this machine is ${formatDuration(ms)} ${ms > 0 ? "behind" : "ahead of"} ${name}. One-time codes and signed requests fail.`;
      const severity = Math.abs(ms) > severeSkewMs ? "error" : "warning";
      return [finding(severity, "clock", message, "timedatectl set-ntp true")];
    });
  },
} satisfies EnvironmentCheck;

async function readDate(url: string, { timeoutMs }: CheckSubject): Promise<string | undefined> {
  // With a wrong clock, a valid certificate seems expired.
  const untrusted = { tls: { rejectUnauthorized: false }, signal: AbortSignal.timeout(timeoutMs) };
  // If it cannot be reached, the checks of the address and of the backups report it.
  const reply = await fetch(url, { method: "HEAD", redirect: "manual", ...untrusted }).catch(() => null);
  return reply?.headers.get("date") ?? undefined;
}
