import { readdirSync, readFileSync, statSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { backupsFolder } from "../../../server/backup/location.ts";
import type { DatabaseConfig } from "../../../server/config/config.ts";
import { notFound, unavailable, validationFailed, wrongState } from "../../../server/errors.ts";
import { attempt } from "../../../server/values/attempt.ts";
import { quoteWord } from "../../../server/values/shell-quote.ts";
import { buildInfo } from "../../terminal/build-info.ts";

/** An executable prints its version at once; another program may wait forever. */
const versionMs = 20_000;

/** Runs a command of an executable and returns what it prints. Errors: unavailable with its message. */
export async function runProgram<T>(
  program: string,
  words: string[],
  config?: DatabaseConfig,
  timeout?: number,
): Promise<T> {
  const url = config?.databaseUrl ? ["--database-url", config.databaseUrl] : [];
  const flags = config ? ["--data-dir", config.dataDir, ...url] : [];
  // Detached, because Ctrl-C must not end a restore.
  const child = Bun.spawn([program, ...words, ...flags, "--json"], {
    stdio: ["ignore", "pipe", "pipe"],
    detached: true,
    ...(timeout && { timeout }),
  });
  const [stdout, stderr] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited]);
  const answer: unknown = attempt(() => JSON.parse(stdout));
  if (answer !== undefined) return answer as T;
  const { message = stderr.trim(), remedy } = attempt(() => JSON.parse(stderr).error) ?? {};
  throw unavailable(message, { remedy });
}

/**
 * Asks an executable for its version and commit, for the migrations that it would apply to a database, and for those
 * that the database has and it does not know in that form.
 * @throws validationFailed for a file that is not this program or not for this machine; wrongState for one that refuses
 * the database; as `runProgram`.
 */
export async function inspectVersion(program: string, config: DatabaseConfig) {
  const asked = runProgram<Partial<typeof buildInfo>>(program, ["version"], undefined, versionMs);
  const { version, commit, platform } = await asked.catch((): Partial<typeof buildInfo> => ({}));
  if (version === undefined || platform !== buildInfo.platform) {
    const remedy = `Allow its execution with chmod +x, or see what it is: file ${quoteWord(program)}`;
    const message = `${program} is not a Bodega executable for this machine (${buildInfo.platform}).`;
    throw validationFailed(message, { remedy });
  }
  type Status = { migrations: { name: string; applied_at: string | null; known: boolean }[] };
  const { migrations } = await runProgram<Status>(program, ["db", "status"], config);
  const pending = migrations.filter(({ applied_at }) => applied_at === null).map(({ name }) => name);
  const unknown = migrations.filter(({ known }) => !known).map(({ name }) => name);
  return { version, commit, pending, unknown };
}

/** Compares the SHA-256 of a file with `given` or SHA256SUMS beside it. Errors: notFound without either, validationFailed. */
export async function verifyChecksum(file: string, given: string | undefined): Promise<void> {
  if (!attempt(() => statSync(file).isFile())) throw notFound("file", file, { remedy: "Check the path." });
  const expected = given?.toLowerCase() ?? readChecksum(file);
  if (Bun.SHA256.hash(await Bun.file(file).bytes(), "hex") === expected) return;
  const remedy = `Get the file again, then compare its checksum: sha256sum ${quoteWord(file)}`;
  throw validationFailed(`The checksum of ${file} is not ${expected}.`, { remedy });
}

function readChecksum(file: string): string {
  const sums = join(dirname(file), "SHA256SUMS");
  const lines = (attempt(() => readFileSync(sums, "utf8")) ?? "").split("\n").map((line) => line.split(/ [ *]/));
  const sum = lines.find(([, name]) => name === basename(file))?.[0];
  if (sum !== undefined) return sum;
  const remedy = `Give the checksum of the release: bodega upgrade ${quoteWord(file)} --sha256 <hex>`;
  throw notFound("checksum", basename(file), { in: sums, remedy });
}

export function findCopyBefore(migration: string, { dataDir }: DatabaseConfig): string {
  const folder = backupsFolder(dataDir);
  const names = attempt(() => readdirSync(folder).sort()) ?? [];
  const name = names.findLast((one) => one.startsWith(`before-${migration}-`) && one.endsWith(".db"));
  if (name !== undefined) return join(folder, name);
  const remedy = "Install the earlier version and restore a backup of it: bodega db restore <backup>";
  throw wrongState(`The database has migration ${migration}, and ${folder} has no copy from before it.`, { remedy });
}

/** The copy of the database that an earlier version needs; null for none. Errors: wrongState where it cannot be restored. */
export function findCopy(
  { pending, unknown }: Record<"pending" | "unknown", string[]>,
  isBack: boolean,
  config: DatabaseConfig,
): string | null {
  const [newest] = unknown;
  if (newest !== undefined && isBack) return findCopyBefore(newest, config);
  if (newest !== undefined) {
    const remedy = "Keep the installed version, or restore a backup that the other one made.";
    throw wrongState(`The other version does not know migration ${newest}, as the database has it.`, { remedy });
  }
  if (pending.length === 0 || config.databaseUrl === undefined) return null;
  const remedy = "Stop all servers, replace their executables by hand, then migrate: bodega db migrate";
  const several = `The other version migrates the database, which several servers may use: ${pending.join(", ")}.`;
  throw wrongState(several, { remedy });
}
