import { mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { openStoreDatabase } from "../../src/server/admin/open-database.ts";
import { type Comparison, compareOnce, percentile } from "./compare.ts";
import { type Bench, startOnCopy } from "./measure.ts";
import type { Running } from "./process.ts";
import type { Row } from "./report.ts";
import { callSteadily } from "./steady.ts";
import { copyStore, startBodega } from "./store.ts";

const pace = { everyMs: 4, callsPerWrite: 4 };
/** Rows of the audit log: about a hundred MiB, so that a copy of the database takes some time. */
const filler = 250_000;
/** These calls need more rounds than others. */
const roundsOfEffort = 3;

/** Measures the p99 latency of calls during backups and during replication, compared with calls without them. */
export async function measureBackups(bench: Bench): Promise<Row[]> {
  bench.say("calls beside a backup");
  const backups = await compareWithBackups(bench);
  bench.say("calls beside replication");
  const replication = await compareWithReplication(bench);
  return [
    { name: "calls beside backups (left) and without, p99", unit: "ms", ...backups, mark: { ratioAtMost: 2 } },
    {
      name: "calls beside replication (left) and without, p99",
      unit: "ms",
      ...replication,
      mark: { ratioAtMost: 1.2 },
    },
  ];
}

/** Compares calls during backups with calls without one. They alternate, so that other load affects both. */
async function compareWithBackups(bench: Bench): Promise<Comparison> {
  const dir = join(bench.workDir, "backup");
  copyStore(bench.store.dataDir, dir);
  await fill(dir);
  const server = await startBodega(bench.binary, dir);
  let tookMs = 1000;
  const callBeside = async () => {
    const started = performance.now();
    const times = await callSteadily(bench, server, backUp(bench, dir), pace);
    tookMs = performance.now() - started;
    return times;
  };
  const callWithout = () => callSteadily(bench, server, Bun.sleep(tookMs), pace);
  await callWithout();
  const compared = await compareP99(bench, callBeside, callWithout);
  await server.stop();
  return compared;
}

/** Compares calls of a server that replicates to a directory in memory with calls of one that does not replicate. */
async function compareWithReplication(bench: Bench): Promise<Comparison> {
  const replica = mkdtempSync("/dev/shm/bodega-bench-");
  process.once("exit", () => rmSync(replica, { recursive: true }));
  const replicated = await startOnCopy(bench, "replicated", ["--replicate-to", replica]);
  const alone = await startOnCopy(bench, "alone");
  const callFor = (server: Running, seconds: number) => callSteadily(bench, server, Bun.sleep(seconds * 1000), pace);
  for (const server of [replicated, alone]) await callFor(server, 1);
  const { seconds } = bench.effort;
  const compared = await compareP99(
    bench,
    () => callFor(replicated, seconds),
    () => callFor(alone, seconds),
  );
  for (const server of [replicated, alone]) await server.stop();
  return compared;
}

/** Compares the p99 of two kinds of calls, which alternate. All calls of a kind are one sample. */
async function compareP99(
  { effort }: Bench,
  measureOurs: () => Promise<number[]>,
  measureBare: () => Promise<number[]>,
): Promise<Comparison> {
  const [ours, bare]: [number[], number[]] = [[], []];
  for (let round = 0; round < effort.rounds * roundsOfEffort; round++) {
    ours.push(...(await measureOurs()));
    bare.push(...(await measureBare()));
  }
  return compareOnce(percentile(ours, 0.99), percentile(bare, 0.99));
}

/** Adds rows that no call reads. */
async function fill(dataDir: string): Promise<void> {
  const db = await openStoreDatabase({ dataDir });
  await db.execute({
    sql: `with recursive n(i) as (select 1 union all select i + 1 from n where i < ?1)
      insert into audit_log (at, event, actor_kind, request_id, details, hash)
      select '2026-01-01T00:00:00.000Z', 'doctor.fixed', 'server', printf('%032d', i),
        printf('{"filler":"%0160d"}', i * 7919), lower(hex(randomblob(32))) from n`,
    args: [filler],
  });
  await db.close();
}

async function backUp({ binary, workDir }: Bench, dataDir: string): Promise<void> {
  const to = join(workDir, "backup.tar.gz");
  const command = [binary, "db", "backup", "--data-dir", dataDir, "--to", to, "--yes", "-q"];
  const child = Bun.spawn(command, { stdin: "ignore", stdout: "ignore", stderr: "pipe" });
  const complaint = await child.stderr.text();
  if ((await child.exited) !== 0) throw new Error(`The backup failed: ${complaint}`);
}
