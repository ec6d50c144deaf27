import { join } from "node:path";
import { openDatabase } from "../../src/server/db/open.ts";
import { type Comparison, comparePairs } from "./compare.ts";
import { percentile } from "./logins.ts";
import type { Bench } from "./measure.ts";
import type { Running } from "./process.ts";
import { copyStore, namespaceQuery, sampleProduct, startBodega } from "./store.ts";

/** Calls go out at this pace, whatever becomes of the ones before; every fourth writes. */
const callEveryMs = 4;
const callsPerWrite = 4;
/** Rows of the audit log that make the database large enough for a copy to take a while: about a hundred MiB. */
const filler = 250_000;
const roundSeconds = 3;

/** How long calls take, the 99th of a hundred, while backup follows backup and while there is none; in milliseconds. */
export async function compareBackups(bench: Bench): Promise<Comparison> {
  const dir = join(bench.workDir, "backup");
  copyStore(bench.store.dataDir, dir);
  await fill(dir);
  const server = await startBodega(bench.binary, dir);
  try {
    const seconds = Math.max(bench.effort.seconds, roundSeconds);
    await callFor(bench, server, 1);
    return await comparePairs(
      bench.effort.rounds,
      async () => {
        const backups = backUpAgainAndAgain(bench, dir);
        const times = await callFor(bench, server, seconds);
        if ((await backups.stop()) === 0) throw new Error("No backup was made while the server was measured.");
        return percentile(times, 0.99);
      },
      async () => percentile(await callFor(bench, server, seconds), 0.99),
    );
  } finally {
    await server.stop();
  }
}

/** Rows that no call reads. */
async function fill(dataDir: string): Promise<void> {
  const db = await openDatabase({ dataDir });
  await db.execute({
    sql: `with recursive n(i) as (select 1 union all select i + 1 from n where i < ?1)
      insert into audit_log (at, event, actor_kind, request_id, details, hash)
      select '2026-01-01T00:00:00.000Z', 'doctor.fixed', 'server', printf('%032d', i),
        printf('{"filler":"%0160d"}', i * 7919), lower(hex(randomblob(32))) from n`,
    args: [filler],
  });
  await db.close();
}

function backUpAgainAndAgain({ binary, workDir }: Bench, dataDir: string): { stop(): Promise<number> } {
  let isStopping = false;
  let made = 0;
  const to = join(workDir, "backup.tar.gz");
  const run = async () => {
    while (!isStopping) {
      const command = [binary, "db", "backup", "--data-dir", dataDir, "--to", to, "--yes", "-q"];
      const child = Bun.spawn(command, { stdin: "ignore", stdout: "ignore", stderr: "pipe" });
      const words = await child.stderr.text();
      if ((await child.exited) !== 0) throw new Error(`The backup failed: ${words}`);
      made += 1;
    }
  };
  const running = run();
  return {
    async stop() {
      isStopping = true;
      await running;
      return made;
    },
  };
}

/** Returns the milliseconds of each call, from the moment at which it was due. */
async function callFor({ store }: Bench, { url }: Running, seconds: number): Promise<number[]> {
  const times: number[] = [];
  const calls: Promise<void>[] = [];
  const headers = { ...store.headers, "Content-Type": "application/json" };
  const started = performance.now();
  for (let due = started; due < started + seconds * 1000; due += callEveryMs) {
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
    calls.push(call());
  }
  await Promise.all(calls);
  return times;
}
