import { cpSync, existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { hasSqld, type Sqld, startSqld } from "../../support/sqld.ts";
import type { Bench } from "../measure.ts";
import { findPort, processorMs, type Running, runCommand, startServer } from "../process.ts";
import { trustLoopback } from "../store.ts";

const filled = "sqld-filled";

/** Writes the benchmark's store to a libSQL server, whose directory `startDatabase` copies. */
export async function fillDatabase(bench: Bench): Promise<void> {
  if (!hasSqld) throw new Error("The libSQL server of this part runs on Linux on x64 only.");
  const { binary, workDir, store, say } = bench;
  say("a libSQL server with the rows of the store");
  if (existsSync(join(workDir, filled))) return;
  const archive = join(workDir, "store.tar.gz");
  runCommand([binary, "db", "backup", "--data-dir", store.dataDir, "--to", archive, "--yes"]);
  const database = await startSqld({ dir: join(workDir, filled) });
  const address = ["--data-dir", makeCopyDir(bench, "filled"), "--database-url", database.url];
  runCommand([binary, "db", "restore", archive, "--yes", ...address]);
  await database.stop();
}

/** Starts a durable libSQL server with the rows of the store, in a directory of this name. */
export function startDatabase({ workDir }: Bench, name: string): Promise<Sqld> {
  const dir = join(workDir, `sqld-${name}`);
  cpSync(join(workDir, filled), dir, { recursive: true });
  return startSqld({ dir });
}

/** Starts the executable on a libSQL server, in a directory of this name that contains only the secret key. */
export async function startCopy(bench: Bench, name: string, databaseUrl: string, port?: number): Promise<Running> {
  const dir = makeCopyDir(bench, name);
  const listening = port ?? (await findPort());
  const address = ["--port", String(listening), "--data-dir", dir, "--database-url", databaseUrl];
  const command = [bench.binary, "serve", ...address, ...trustLoopback];
  return startServer(command, `http://127.0.0.1:${listening}`, join(dir, "serve.log"));
}

/** Starts a libSQL server and one copy of Bodega on it. Returns both as one server. */
export async function startWithDatabase(bench: Bench, name: string): Promise<Running> {
  const database = await startDatabase(bench, name);
  const copy = await startCopy(bench, name, database.url);
  return {
    ...copy,
    processorMs: () => copy.processorMs() + processorMs(database.pid),
    async stop() {
      await copy.stop();
      await database.stop();
    },
  };
}

function makeCopyDir({ workDir, store }: Bench, name: string): string {
  const dir = join(workDir, `copy-${name}`);
  mkdirSync(dir, { recursive: true, mode: 0o700 });
  cpSync(join(store.dataDir, "secret.key"), join(dir, "secret.key"));
  return dir;
}
