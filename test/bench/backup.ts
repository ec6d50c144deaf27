import { mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { openStoreDatabase } from "../../src/server/admin/open-database.ts";
import { type Comparison, compareOnce } from "./compare.ts";
import { percentile } from "./logins.ts";
import type { Bench } from "./measure.ts";
import type { Running } from "./process.ts";
import { copyStore, namespaceQuery, sampleProduct, startBodega } from "./store.ts";

/** Calls are sent at this rate, even if earlier ones are still unanswered; every fourth writes. */
const callEveryMs = 4;
const callsPerWrite = 4;
/** Rows of the audit log that make the database large enough for a copy to take a while: about a hundred MiB. */
const filler = 250_000;

/** Backups for each round of the benchmark. */
const backupsPerRound = 3;

/**
 * The p99 latency of calls during backups, and without one for as long right after each, in milliseconds. All calls of
 * a side are one sample, so that other load on the machine affects both.
 */
export async function compareBackups(bench: Bench): Promise<Comparison> {
  const dir = join(bench.workDir, "backup");
  copyStore(bench.store.dataDir, dir);
  await fill(dir);
  const server = await startBodega(bench.binary, dir);
  try {
    await callUntil(bench, server, Bun.sleep(1000));
    const beside: number[] = [];
    const without: number[] = [];
    for (let round = 0; round < bench.effort.rounds * backupsPerRound; round++) {
      const started = performance.now();
      beside.push(...(await callUntil(bench, server, backUp(bench, dir))));
      const took = performance.now() - started;
      without.push(...(await callUntil(bench, server, Bun.sleep(took))));
    }
    return compareOnce(percentile(beside, 0.99), percentile(without, 0.99));
  } finally {
    await server.stop();
  }
}

/**
 * The p99 latency of calls of a server that replicates its changes to a directory in memory, which stands for another
 * disk, and of one that does not, in turn, in milliseconds.
 */
export async function compareReplication(bench: Bench): Promise<Comparison> {
  const replica = mkdtempSync("/dev/shm/bodega-bench-");
  const servers: Running[] = [];
  try {
    for (const [name, flags] of [
      ["replicated", ["--replicate-to", replica]],
      ["alone", []],
    ] as const) {
      const dir = join(bench.workDir, name);
      copyStore(bench.store.dataDir, dir);
      const server = await startBodega(bench.binary, dir, flags);
      servers.push(server);
      await callUntil(bench, server, Bun.sleep(1000));
    }
    const times: number[][] = [[], []];
    for (let round = 0; round < bench.effort.rounds * backupsPerRound; round++) {
      for (const [side, server] of servers.entries()) {
        times[side]?.push(...(await callUntil(bench, server, Bun.sleep(bench.effort.seconds * 1000))));
      }
    }
    const [beside = [], without = []] = times;
    return compareOnce(percentile(beside, 0.99), percentile(without, 0.99));
  } finally {
    for (const server of servers) await server.stop();
    rmSync(replica, { recursive: true });
  }
}

/** Rows that no call reads. */
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
  const words = await child.stderr.text();
  if ((await child.exited) !== 0) throw new Error(`The backup failed: ${words}`);
}

/** Returns the milliseconds of each call, from the moment at which it was due. */
async function callUntil({ store }: Bench, { url }: Running, end: Promise<unknown>): Promise<number[]> {
  const times: number[] = [];
  const calls: Promise<void>[] = [];
  const headers = { ...store.headers, "Content-Type": "application/json" };
  let isOver = false;
  const over = end.finally(() => {
    isOver = true;
  });
  over.catch(() => {});
  for (let due = performance.now(); !isOver; due += callEveryMs) {
    await Bun.sleep(Math.max(0, due - performance.now()));
    const number = calls.length;
    const isWrite = number % callsPerWrite === 0;
    const path = isWrite ? "/products/" : `/products/${store.productIds[number % store.productIds.length]}/`;
    const call = async () => {
      const reply = await fetch(`${url}${path}${namespaceQuery}`, {
        headers,
        ...(isWrite && { method: "POST", body: sampleProduct(crypto.randomUUID()) }),
      });
      await reply.arrayBuffer();
      if (!reply.ok) throw new Error(`A call was answered ${reply.status}.`);
      times.push(performance.now() - due);
    };
    const made = call();
    // Awaited once all calls are done.
    made.catch(() => {});
    calls.push(made);
  }
  const outcomes = await Promise.allSettled([over, ...calls]);
  const failed = outcomes.find((outcome) => outcome.status === "rejected");
  if (failed) throw failed.reason;
  return times;
}
