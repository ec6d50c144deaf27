import { existsSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { sql } from "drizzle-orm";
import { envFilePath, findUnknownSettings } from "../../config/environment.ts";
import type { TlsFiles } from "../../config/server-config.ts";
import { locateFailure } from "../../db/db-errors.ts";
import { isServerRunning } from "../../db/local/file-lock.ts";
import type { Database } from "../../db/session.ts";
import { get, statement } from "../../db/statement.ts";
import { AppError, unavailable } from "../../errors.ts";
import { auditLog } from "../../modules/audit/table.ts";
import { events } from "../../modules/events/table.ts";
import { readServerStatus } from "../../monitoring/listeners.ts";
import { selectFingerprint } from "../../security/secret-key.ts";
import { openRow } from "../../tls/acme/row.ts";
import { checkCertificate, readCertificate } from "../../tls/certificate.ts";
import { attempt } from "../../values/attempt.ts";
import { formatDuration } from "../../values/units.ts";
import { type CheckSubject, type Finding, finding, reasonOf, type StoreSubject } from "../finding.ts";

/** Checks that a server runs, that it and its workers are ready, and that its version and settings are current. */
export async function* checkServer(subject: CheckSubject): AsyncGenerator<Finding> {
  const { config, timeoutMs, version: own, command } = subject;
  const { dataDir, databaseUrl } = config;
  // The servers of a libSQL database may be on other machines, so none has to run here.
  if (databaseUrl !== undefined) return;
  if (!(await isServerRunning(dataDir))) {
    return yield finding("note", dataDir, `No server runs on ${dataDir}.`, command("serve"));
  }
  const status = await readServerStatus(dataDir, timeoutMs);
  if (status === null) {
    const message = `A server runs on ${dataDir}, but does not answer on its control socket. It is starting, hangs, or belongs to another account.`;
    return yield finding("warning", dataDir, message, "Check its log. If it hangs, restart it.");
  }
  // A server of another version may not report all fields, so some have defaults.
  const { version, pid, workers, started_at = "", processes = [] } = status;
  const silent = processes.filter(({ answers }) => !answers).length;
  if (silent > 0) {
    const message = `${silent} of ${workers} workers of the server (process ${pid}) do not answer. The server replaces workers that hang or end.`;
    const remedy = "Check again after ten seconds, and look for the reason in the server's log.";
    yield finding("error", "workers", message, remedy);
  }
  for (const reason of new Set(processes.flatMap(({ unready }) => unready ?? []))) {
    const fault = locateFailure(unavailable(reason, { isInternal: true }), config, command) as AppError;
    yield finding("error", dataDir, `The server is not ready: ${reason}`, fault.remedy ?? null);
  }
  if (version !== own) {
    const message = `The server (process ${pid}) is version ${version}, and this program is version ${own}.`;
    yield finding("warning", dataDir, message, "Restart the server to run the installed version.");
  }
  const settings = envFilePath(dataDir);
  const changedAt = statSync(settings, { throwIfNoEntry: false })?.mtimeMs ?? 0;
  if (changedAt > Date.parse(started_at)) {
    const message = `${settings} was changed after the server started.`;
    yield finding("warning", settings, message, "Restart the server, which reads it only when it starts.");
  }
}

export async function* checkDurability({ ctx, config: { databaseUrl } }: CheckSubject): AsyncGenerator<Finding> {
  // The session in doctor's context is always a `Database`.
  const db = ctx?.db as Database | undefined;
  if (databaseUrl === undefined || db === undefined) return;
  await db.checkWrites();
  if (db.warning === undefined) return;
  const remedy = "Set its durability_mode to strong, after each of its starts.";
  yield finding("error", databaseUrl, db.warning, remedy);
}

/** The clock skew that one-time codes tolerate. Other parts tolerate more. */
const maxSkewMs = 30_000;

const selectNow = statement<{ at: string | null }>(sql`select strftime('%Y-%m-%dT%H:%M:%fZ', 'now') as at`);
// The newest rows are found by sequence, not by time: a wrong clock would change an order by time.
export const selectNewest = statement<{ at: string | null }>(sql`select max(at) as at from (
  select * from (select at from ${auditLog} order by seq desc limit 1)
  union all select * from (select created_at as at from ${events} order by sequence desc limit 1))`);

/** Checks that the clock of this machine agrees with the database server, or with the data of a file. */
export async function* checkClock({ ctx, config, now }: StoreSubject): AsyncGenerator<Finding> {
  const isFile = config.databaseUrl === undefined;
  const { at } = (await get(ctx.db, isFile ? selectNewest : selectNow)) ?? { at: null };
  const ms = Date.parse(at ?? "") - now();
  // The newest data of a file may be old. So only data from the future shows that the clock is wrong.
  if (!((isFile ? ms : Math.abs(ms)) > maxSkewMs)) return;
  const relation = `${ms > 0 ? "behind" : "ahead of"} ${isFile ? `the newest data (${at})` : "the database server"}`;
  const message = `The clock of this machine is ${formatDuration(ms)} ${relation}. One-time codes and signed requests fail.`;
  yield finding("error", "clock", message, "timedatectl set-ntp true");
}

export async function* checkSettings({ config: { dataDir }, env }: CheckSubject): AsyncGenerator<Finding> {
  const unknown = findUnknownSettings(env, dataDir);
  yield* unknown.map(({ subject, message }) => finding("warning", subject, message, "Correct or remove it."));
}

const minVariety = 12;

export async function* checkSecretKey({ ctx, config, command }: CheckSubject): AsyncGenerator<Finding> {
  const path = join(config.dataDir, "secret.key");
  const source = config.secret === undefined ? path : "BODEGA_SECRET";
  const key = config.secret ?? attempt(() => readFileSync(path, "utf8"))?.trim();
  // A new database has no fingerprint, so any key fits. The key is not read then, because that would create its file.
  const known = ctx && (await get(ctx.db, selectFingerprint));
  try {
    if (known) ctx.vault.fingerprint();
  } catch (error) {
    const message = `A server with these settings does not start. ${reasonOf(error)}`;
    const remedy = `Put the right key back. If it is lost, stop the server and run: ${command("db rekey")}`;
    yield finding("error", source, message, remedy);
  }
  if (key !== undefined && new Set(key).size < minVariety) {
    const message = `${source} can be guessed: it has only ${new Set(key).size} different characters.`;
    const remedy = `Stop the server, create a key with "openssl rand -base64 32", and run: ${command("db rekey")}`;
    yield finding("warning", source, message, remedy);
  }
}

export async function* checkMail({ config, command, timeoutMs }: CheckSubject): AsyncGenerator<Finding> {
  const { smtpUrl: url, dataDir } = config;
  if (url === undefined) {
    const message = "No mail server is configured, so reset codes and notices are not sent.";
    const remedy = `Set BODEGA_SMTP_URL and BODEGA_MAIL_FROM, for example in ${dataDir}/bodega.env, or run: ${command("init")}`;
    return yield finding("warning", "BODEGA_SMTP_URL", message, remedy);
  }
  const { hostname, host } = new URL(url);
  // The mail client is loaded only if there is a mail server.
  const { checkServer } = await import("../../modules/mail/smtp.ts");
  try {
    const encrypted = await checkServer({ url, timeoutMs });
    if (encrypted || hostname === "localhost" || hostname === "[::1]" || hostname.startsWith("127.")) return;
    const message = `The connection to the mail server ${host} does not use TLS: others can read reset codes on the way.`;
    const remedy = "Turn on TLS at the mail server, or use its TLS port with smtps: in BODEGA_SMTP_URL.";
    yield finding("warning", host, message, remedy);
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    const remedy =
      error.kind === "wrongState"
        ? "Correct user and password in BODEGA_SMTP_URL; write @ : / and % in them as %40 %3A %2F %25."
        : "Correct host and port in BODEGA_SMTP_URL, or allow outgoing connections to it. Many providers block ports 25, 465 and 587.";
    yield finding("error", host, `The mail server cannot be used: ${error.message}`, remedy);
  }
}

export async function* checkTls(subject: CheckSubject): AsyncGenerator<Finding> {
  const { tls, dataDir } = subject.config;
  if (tls) return yield* checkServedFiles(subject, tls);
  // The running server may have a certificate by flags that are not set here.
  const end = (await readServerStatus(dataDir, subject.timeoutMs))?.certificate_expires_at;
  if (end && Date.parse(end) <= subject.now()) {
    const message = `The server's certificate expired on ${end}: browsers and apps reject it.`;
    yield finding("error", dataDir, message, "Renew it; the server loads it without a restart.");
  }
  const obtained = join(dataDir, "acme-certificate.pem");
  if (!existsSync(obtained)) return;
  const message = `${obtained} was not checked, because --acme (BODEGA_ACME) is not set here.`;
  yield finding("note", obtained, message, "Use the same flags and environment as for the server.");
}

async function* checkServedFiles({ config, ctx, now }: CheckSubject, files: TlsFiles): AsyncGenerator<Finding> {
  const { publicUrl, acme } = config;
  const row = acme && ctx && (await openRow(ctx.db as Database, acme).read());
  const failure: { message: string; remedy: string } | undefined = row?.failure ? JSON.parse(row.failure) : undefined;
  if (failure) yield finding(row?.sealed ? "warning" : "error", files.cert, failure.message, failure.remedy);
  if (acme && !row?.sealed) {
    const message = `No certificate for ${acme.names.join(", ")} was obtained yet.`;
    return yield finding("note", files.cert, message, "Start the server, which obtains it.");
  }
  try {
    const certificate = await readCertificate(files);
    const problems = await checkCertificate(certificate, files, { now: now(), publicUrl });
    // With --acme, the server renews an old certificate. Its age is an error if a renewal failed, or if it has expired.
    const severity = failure || certificate.until <= now() ? "error" : "note";
    const remedy = failure?.message ?? "The server renews it.";
    for (const problem of problems) {
      yield acme && problem.severity === "error" ? { ...problem, severity, remedy } : problem;
    }
  } catch (error) {
    const remedy = `Write the certificate chain to ${files.cert} and its key to ${files.key}. A running server reloads them.`;
    yield finding("error", files.cert, reasonOf(error), remedy);
  }
}
