import { statSync } from "node:fs";
import { isAbsolute } from "node:path";
import { sql } from "drizzle-orm";
import { backupsFolder, readLast, restoreTestPlace } from "../../backup/location.ts";
import { databaseFile } from "../../config/data-dir.ts";
import { isServerRunning } from "../../db/local/file-lock.ts";
import { get, statement } from "../../db/statement.ts";
import { auditLog } from "../../modules/audit/table.ts";
import { readServerStatus } from "../../monitoring/listeners.ts";
import { describeShared } from "../../replication/place-health.ts";
import { readStandbyState } from "../../replication/standby.ts";
import { readReplicaState } from "../../replication/target.ts";
import { attempt } from "../../values/attempt.ts";
import { quoteWord } from "../../values/shell-quote.ts";
import { formatDuration } from "../../values/units.ts";
import { type CheckSubject, type Finding, finding, type Severity, type StoreSubject } from "../finding.ts";

const day = 86_400_000;
const maxTestAgeMs = 3 * day;

// The audit log is read, because servers of a libSQL database share the log, but not their directories of backups.
const selectLast = statement<{ begun_at: string; at: string | null; place: string }>(sql`
  select coalesce((select at from ${auditLog} order by seq limit 1), '') as begun_at, max(seq), at,
    coalesce(details ->> '$.backup', '') as place
  from ${auditLog} where event = 'database.backed_up' and code is null`);

/** Checks that there is a recent backup, that its file exists, and that the last attempt succeeded. */
export async function* checkBackups({ ctx, now, config, command }: StoreSubject): AsyncGenerator<Finding> {
  const { dataDir, databaseUrl, backupTo, backupEveryMs: everyMs } = config;
  const subject = backupTo ?? backupsFolder(dataDir);
  const overdue = everyMs ? "error" : "warning";
  const maxAgeMs = everyMs ? 2 * everyMs : 7 * day;
  const advice = everyMs
    ? `The server should make one every ${formatDuration(everyMs)}. Check that it runs, and read its log.`
    : "Let the server make backups with --backup-every 24h, and keep copies on another machine.";
  const describe = (message: string, severity: Severity = overdue) =>
    finding(severity, subject, message, command("db backup"));
  const { last_failure: failure } = readLast(dataDir, "backup");
  if (failure !== null) yield describe(`The last backup failed at ${failure.at}: ${failure.message}`);
  const { begun_at, at, place } = (await get(ctx.db, selectLast)) ?? { begun_at: "", at: null, place: "" };
  if (at === null) {
    const isOld = now() - Date.parse(begun_at) >= (everyMs ? maxAgeMs : day);
    return yield describe(`There is no backup of this database. ${advice}`, isOld ? overdue : "note");
  }
  const ageMs = now() - Date.parse(at);
  const age = formatDuration(ageMs);
  // The file of a libSQL database's backup may be on another machine, so it is not looked for.
  const isHere = databaseUrl === undefined && isAbsolute(place);
  if (isHere && !attempt(() => statSync(place).size)) {
    yield describe(`The last backup, made ${age} ago, is no longer at ${place}.`, "warning");
  } else if (ageMs > maxAgeMs) yield describe(`The last backup is ${age} old. ${advice}`);
}

/** A longer lag is an error. Even on a slow disk or bucket, a replica stays below this. */
const maxLagSeconds = 30;

/** Checks that the replica can be written, is at most `maxLagSeconds` behind, and is on another disk. */
export async function* checkReplication({ config, timeoutMs, command }: CheckSubject): AsyncGenerator<Finding> {
  const { dataDir, databaseUrl, replicateTo } = config;
  if (databaseUrl !== undefined) return;
  const status = await readServerStatus(dataDir, timeoutMs);
  const last = status ? undefined : readReplicaState(databaseFile(dataDir))?.place;
  const { place = replicateTo ?? last, lag_seconds: lag = 0, failure } = status?.replication ?? {};
  if (place === undefined) return;
  const shared = await describeShared(place, dataDir);
  if (shared) yield finding("warning", place, shared, "Use another disk, machine, or S3.");
  if (!failure && lag <= maxLagSeconds) return;
  const reason = failure ? ` Since ${failure.since} it cannot be written: ${failure.message}` : "";
  const message = `The replica in ${place} is ${formatDuration(lag * 1000)} behind.${reason}`;
  const remedy = `Check that place. Until it works again, make a backup elsewhere: ${command("db backup")}`;
  yield finding("error", place, message, remedy);
}

/** Checks that a restore of the replica or backup was tested within the last three days. */
export async function* checkRestoreTest({ config, now, command }: CheckSubject): AsyncGenerator<Finding> {
  const { last_success: last, last_failure: failure } = readLast(config.dataDir, "restore-test");
  const place = failure?.place ?? restoreTestPlace(config) ?? last?.place;
  if (place === undefined) return;
  const ageMs = last ? now() - Date.parse(last.at) : 0;
  const success = last ? `The last one succeeded ${formatDuration(ageMs)} ago` : "None has succeeded yet";
  const again = command(`db test-restore ${quoteWord(place)}`);
  const once = "The server tests a restore once a day.";
  const message = failure ? `The restore test failed at ${failure.at}: ${failure.message}` : once;
  const severity = failure ? "error" : ageMs > maxTestAgeMs ? "warning" : "note";
  yield finding(severity, place, `${message} ${success}.`, again);
}

export async function* checkStandby({ config, now, timeoutMs, command }: CheckSubject): AsyncGenerator<Finding> {
  const known = readStandbyState(config.dataDir);
  if (known === undefined) return;
  const { place, url, state } = known;
  if (!(await isServerRunning(config.dataDir))) {
    const age = state && formatDuration(now() - Date.parse(state.at));
    const message = `No standby runs on ${config.dataDir}: ${age ? `its copy is ${age} old` : "it has no copy yet"}.`;
    return yield finding("error", place, message, command(`standby --from ${quoteWord(place)}`));
  }
  const tls = { rejectUnauthorized: false };
  const reply = await fetch(`${url}/health/ready`, { tls, signal: AbortSignal.timeout(timeoutMs) });
  const { error } = (await reply.json()) as { error: { message: string; details?: { message: string }[] } };
  const isClose = Number(error.details?.[0]?.message) <= maxLagSeconds;
  const advice = isClose ? null : "Read the log of the standby, and check that place.";
  yield finding(isClose ? "note" : "error", place, error.message, advice);
}
