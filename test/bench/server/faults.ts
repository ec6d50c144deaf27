import { spawnSync } from "node:child_process";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Client, createClient, type Transaction } from "@libsql/client/http";
import { startHttpFront, type Way } from "../../support/http-front.ts";
import type { Sqld } from "../../support/sqld.ts";
import { startTcpProxy, type TcpProxy } from "../../support/tcp-proxy.ts";
import { until } from "../../support/until.ts";
import { figureAlone } from "../compare.ts";
import type { Bench } from "../measure.ts";
import type { Running } from "../process.ts";
import type { Row } from "../report.ts";
import { type Clients, countOrders, startClients } from "./clients.ts";
import { startCopy, startDatabase } from "./copy.ts";

const stopMs = 30_000;
const faultMs = 3000;
const lostAnswers = 10;
const callTimeoutMs = 10_000;
const maxAnswerMs = callTimeoutMs + 500;
/** A server lets another writer take the lock of a transaction that is older than five seconds. */
const stolenAfterMs = 1000;

/** One copy before a libSQL server, behind a proxy. */
interface Scene {
  database: Sqld;
  proxy: TcpProxy;
  copy: Running;
  clients: Clients;
}

/** Begins a fault, and resolves when it has ended. */
type Fault = (scene: Scene) => Promise<void>;

/** Faults of a libSQL server, one after another, while clients read products and create orders. Then the orders are counted. */
export async function runFaults(bench: Bench, way: Way, say: (text: string) => void): Promise<Row[]> {
  const disk = join(bench.workDir, `sqld-faults-${way}`);
  mkdirSync(disk, { recursive: true });
  const isMounted = spawnSync("mount", ["-t", "tmpfs", "-o", "size=256m", "tmpfs", disk]).status === 0;
  if (!isMounted) say("a small disk cannot be mounted, so none is filled");
  try {
    return await runFaultsOn(bench, way, isMounted ? disk : undefined, say);
  } finally {
    if (isMounted) spawnSync("umount", ["-l", disk]);
  }
}

async function runFaultsOn(bench: Bench, way: Way, disk: string | undefined, say: (text: string) => void) {
  const database = await startDatabase(bench, `faults-${way}`);
  const proxy = await startTcpProxy(Number(new URL(database.url).port));
  const direct = `http://127.0.0.1:${proxy.port}`;
  const front = way === "http" ? startHttpFront(direct) : undefined;
  const copy = await startCopy(bench, { name: `faults-${way}`, databaseUrl: front?.url ?? direct });
  const clients = startClients(copy.url, bench.store);
  const faults: Record<string, Fault> = {
    "sqld stopped for 30 s": stopDatabase,
    "connection cut without FIN": cutSilently,
    "lock stolen in mid-group": stealLock,
    "answers to COMMIT lost": loseAnswers,
    ...(disk !== undefined && { "disk full in mid-group": () => fillDisk(disk) }),
  };
  const rows: Row[] = [];
  for (const [name, fault] of Object.entries(faults)) {
    await clients.served(performance.now());
    clients.takeSlowest();
    await fault({ database, proxy, copy, clients });
    const endedAt = performance.now();
    const ready = until("the copy to be ready", async () => (await fetch(`${copy.url}/health/ready`)).ok);
    const readyMs = ready.then(() => performance.now() - endedAt);
    await clients.served(endedAt);
    const servedMs = performance.now() - endedAt;
    await clients.settled(endedAt);
    const failures = Object.entries(clients.takeFailures()).map(([reason, count]) => `${count} x ${reason}`);
    say([`${way}: ${name}: ready after ${(await readyMs).toFixed(0)} ms`, ...failures].join("; "));
    rows.push(
      {
        name: `${name}: slowest answer`,
        unit: "ms",
        ...figureAlone(clients.takeSlowest()),
        mark: { atMost: maxAnswerMs },
      },
      { name: `${name}: ready after its end`, unit: "ms", ...figureAlone(await readyMs), mark: { atMost: 1000 } },
      { name: `${name}: all served after its end`, unit: "ms", ...figureAlone(servedMs) },
    );
  }
  await clients.stop();
  rows.push(...(await countOrders(database.url, clients.acknowledged)));
  for (const server of [copy, ...(front ? [front] : []), proxy, database]) await server.stop();
  return rows;
}

async function stopDatabase({ database }: Scene): Promise<void> {
  process.kill(database.pid, "SIGSTOP");
  await Bun.sleep(stopMs);
  process.kill(database.pid, "SIGCONT");
}

/** Nothing tells the copy, which gives a call up after ten seconds. */
async function cutSilently({ proxy }: Scene): Promise<void> {
  proxy.silence();
  await Bun.sleep(callTimeoutMs);
}

/** Stops the copy while it holds the lock, so that another writer gets it and keeps it for a while. */
async function stealLock({ database, copy }: Scene): Promise<void> {
  const other = createClient({ url: database.url });
  for (;;) {
    process.kill(copy.pid, "SIGSTOP");
    const askedAt = performance.now();
    const taken = await takeLock(other);
    const isStolen = performance.now() - askedAt > stolenAfterMs;
    process.kill(copy.pid, "SIGCONT");
    if (isStolen) await Bun.sleep(faultMs);
    await taken.rollback();
    if (isStolen) break;
    await Bun.sleep(Math.random() * 100);
  }
  other.close();
}

async function takeLock(client: Client): Promise<Transaction> {
  for (;;) {
    const transaction = await client.transaction("write");
    try {
      // The transaction begins with its first statement.
      await transaction.execute("SELECT 1");
      return transaction;
    } catch {
      transaction.close();
      await Bun.sleep(5);
    }
  }
}

/** Several times, the server gets a COMMIT and its answer is lost with the connection. */
async function loseAnswers({ proxy, clients }: Scene): Promise<void> {
  for (let count = 0; count < lostAnswers; count++) {
    await new Promise<void>((resolve) => {
      proxy.onSend = (bytes) => {
        if (!hasCommit(bytes)) return bytes;
        proxy.onSend = (all) => all;
        proxy.onAnswer = () => {
          proxy.onAnswer = (all) => all;
          proxy.cut();
          resolve();
          return null;
        };
        return bytes;
      };
    });
    await clients.served(performance.now());
  }
}

/** Whether a request, or a masked frame of a WebSocket, is the end of a group of writes. */
function hasCommit(bytes: Buffer): boolean {
  const text = bytes[0] === 0x81 || bytes[0] === 0x82 ? unmask(bytes) : bytes;
  return text.includes("write_groups") && text.includes("COMMIT");
}

function unmask(frame: Buffer): Buffer {
  const length = (frame[1] as number) & 0x7f;
  const maskAt = length === 126 ? 4 : length === 127 ? 10 : 2;
  const mask = frame.subarray(maskAt, maskAt + 4);
  return Buffer.from(frame.subarray(maskAt + 4).map((byte, index) => byte ^ (mask[index % 4] as number)));
}

async function fillDisk(dir: string): Promise<void> {
  const ballast = join(dir, "ballast");
  const piece = Buffer.alloc(64 * 1024);
  for (const until = performance.now() + faultMs; performance.now() < until; await Bun.sleep(5)) {
    try {
      for (;;) writeFileSync(ballast, piece, { flag: "a" });
    } catch {
      // It is full, and takes what sqld frees next time.
    }
  }
  rmSync(ballast);
}
