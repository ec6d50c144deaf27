import fs from "node:fs";
import { basename, dirname, join } from "node:path";
import { backupsFolder } from "../../../server/backup/location.ts";
import type { DatabaseConfig } from "../../../server/config/config.ts";
import { syncFile } from "../../../server/db/local/sync-file.ts";
import { unavailable, validationFailed, wrongState } from "../../../server/errors.ts";
import { readServerStatus, requestServer } from "../../../server/monitoring/listeners.ts";
import { storageError } from "../../../server/object-store/storage.ts";
import { attempt } from "../../../server/values/attempt.ts";
import { buildInfo } from "../version.ts";

/** How long a server may take to become ready. The migration of a large database takes minutes. */
const readyMs = 300_000;

type MigrationStatus = { migrations: { name: string; applied_at: string | null; known: boolean }[] };

export const previousOf = (installed: string) => `${installed}.previous`;

/** Throws validationFailed unless `SHA256SUMS` in a file's directory contains the file's checksum. */
export function verifyChecksum(file: string): void {
  const sums = join(dirname(file), "SHA256SUMS");
  const hash = Bun.SHA256.hash(fs.readFileSync(file), "hex");
  const lines = attempt(() => fs.readFileSync(sums, "utf8"))?.split("\n");
  if (lines?.includes(`${hash}  ${basename(file)}`)) return;
  const remedy = "Download the executable and the release's SHA256SUMS into one directory.";
  throw validationFailed(`The checksum of ${file}, ${hash}, is not in ${sums}.`, { remedy });
}

/** Runs a Bodega executable with `--json`, and returns the result. If it reports an error, throws unavailable. */
export async function runProgram<T>(program: string, words: string[], config: DatabaseConfig): Promise<T> {
  const { dataDir, databaseUrl } = config;
  const flags = ["--data-dir", dataDir, ...(databaseUrl ? ["--database-url", databaseUrl] : []), "--json"];
  // The program gets its own process group, because Ctrl-C must not end a restore.
  const child = Bun.spawn([program, ...words, ...flags], { stdio: ["ignore", "pipe", "pipe"], detached: true });
  const [stdout, stderr] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited]);
  const answer: unknown = attempt(() => JSON.parse(stdout));
  if (answer !== undefined) return answer as T;
  const { message = stderr.trim(), remedy } = attempt(() => JSON.parse(stderr).error) ?? {};
  throw unavailable(message, { remedy });
}

/**
 * Returns the version of an executable and the migrations that it will apply. `restores` is the database copy that an
 * older version needs. Errors: validationFailed if it is not Bodega; wrongState without a copy; unavailable.
 */
export async function inspectVersion(program: string, isBack: boolean, config: DatabaseConfig) {
  const found = await runProgram<typeof buildInfo>(program, ["version"], config).catch(() => undefined);
  if (found?.platform !== buildInfo.platform) {
    throw validationFailed(`${program} is not a Bodega executable for this machine (${buildInfo.platform}).`, {
      remedy: `Allow its execution with chmod +x, or download the executable for ${buildInfo.platform}.`,
    });
  }
  const { migrations: all } = await runProgram<MigrationStatus>(program, ["db", "status"], config);
  const migrations = all.filter(({ applied_at }) => applied_at === null).map(({ name }) => name);
  if (migrations.length > 0 && config.databaseUrl !== undefined) {
    const remedy = "Stop all servers, replace their executables by hand, then migrate: bodega db migrate";
    throw wrongState(`Version ${found.version} migrates the database, but several servers may use it.`, { remedy });
  }
  const unknown = all.find(({ known }) => !known)?.name;
  if (unknown === undefined) return { ...found, migrations, restores: null };
  const cwd = backupsFolder(config.dataDir);
  const copy = isBack && fs.globSync(`before-${unknown}-*.db`, { cwd }).sort().at(-1);
  if (copy) return { ...found, migrations, restores: join(cwd, copy) };
  const message = `Version ${found.version} cannot use the database: it does not know migration ${unknown}.`;
  const remedy = "Install another version, or restore a backup from before this migration: bodega db restore <backup>";
  throw wrongState(message, { remedy });
}

/** Replaces the executable by a copy of a file, and keeps it as the previous version. Errors: unavailable. */
function replaceExecutable(installed: string, file: string): void {
  const [next, previous] = [`${installed}.next`, previousOf(installed)];
  try {
    fs.copyFileSync(file, next);
    fs.chmodSync(next, fs.statSync(installed).mode);
    syncFile(next);
    fs.rmSync(previous, { force: true });
    fs.linkSync(installed, previous);
    fs.renameSync(next, installed);
    syncFile(dirname(installed));
  } catch (cause) {
    throw storageError(cause, installed, "Cannot replace");
  }
}

type Plan = { from: string; to: string; executable: string; restores: string | null; unit: string | null };

/**
 * Installs another version and restarts the server. If that fails, restores the previous version, and the database if
 * it was migrated. If a restore replaced the database, returns the path of the replaced file; otherwise null.
 * @throws unavailable if the server cannot be stopped (nothing is changed then), or if the installed version failed.
 */
export async function changeVersion(file: string, plan: Plan, config: DatabaseConfig): Promise<string | null> {
  const { executable: installed, unit, restores } = plan;
  let kept: string | null = null;
  const start = async (copy: string | null) => {
    if (copy) kept = (await runProgram<{ kept: string }>(installed, ["db", "restore", copy, "--yes"], config)).kept;
    if (unit !== null) await startServer(unit, config.dataDir);
  };
  const goBack = async () => {
    const stillRuns = unit !== null && findMainProcess(unit) === running;
    if (unit !== null && !stillRuns) runSystemctl("stop", unit);
    fs.renameSync(previousOf(installed), installed);
    if (stillRuns) return;
    await start(kept ?? (await inspectVersion(installed, true, config)).restores);
  };
  if (unit !== null && restores !== null) runSystemctl("stop", unit);
  const running = unit !== null && restores === null && findMainProcess(unit);
  replaceExecutable(installed, file);
  try {
    await start(restores);
    return kept;
  } catch (error) {
    const outcome = await goBack().then(
      () => "is back",
      ({ message }: Error) => `could not be restored (${message})`,
    );
    const message = `Version ${plan.to} failed, and version ${plan.from} ${outcome}: ${(error as Error).message}`;
    const remedy = unit ? `See its log: journalctl -u ${unit}` : undefined;
    throw unavailable(message, { exit: 1, cause: error, remedy });
  }
}

/** Lets the running server start its successor. If none runs, starts the unit. Waits until the new server is ready. */
async function startServer(unit: string, dataDir: string): Promise<void> {
  const reply = await requestServer(dataDir, "/succeed", readyMs);
  if (reply === null) runSystemctl("start", unit);
  if (reply?.ok === false) throw unavailable("The new server cannot start, so the present one goes on.");
  // The reply is the successor's process id.
  const pid = reply === null ? findMainProcess(unit) : Number(await reply.text());
  const deadline = performance.now() + readyMs;
  while ((await readServerStatus(dataDir))?.pid !== pid) {
    if (findMainProcess(unit) !== pid || pid === 0) throw unavailable("The started server ended.");
    if (performance.now() > deadline) throw unavailable("The started server was not ready within five minutes.");
    await Bun.sleep(200);
  }
}

function runSystemctl(...words: string[]): string {
  const { exitCode, stdout, stderr } = Bun.spawnSync(["systemctl", ...words], { timeout: readyMs });
  if (exitCode === 0) return stdout.toString().trim();
  throw unavailable(`systemctl ${words.join(" ")} failed: ${stderr.toString().trim()}`);
}

/** Returns the process id of a unit's server; 0 if no server runs, or if there is no systemd. */
const findMainProcess = (unit: string) =>
  Number(attempt(() => runSystemctl("show", "--property=MainPID", "--value", unit)) ?? 0);

/** Returns `unit` if this unit runs the server; null if no server runs. Errors: wrongState for any other unit. */
export async function requireUnit({ dataDir }: DatabaseConfig, unit: string): Promise<string | null> {
  const status = await readServerStatus(dataDir);
  if (status === null) return null;
  if (findMainProcess(unit) === status.pid) return unit;
  const remedy = `Name the server's unit with --unit, or stop the server, upgrade, and start it again: kill ${status.pid}`;
  throw wrongState(`The systemd unit ${unit} does not run the server (process ${status.pid}).`, { remedy });
}
