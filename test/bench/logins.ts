import { join } from "node:path";
import { type Comparison, compareOnce, comparePairs } from "./compare.ts";
import type { Bench } from "./measure.ts";
import type { Running } from "./process.ts";
import { copyStore, namespaceQuery, startBodega } from "./store.ts";

const loginsAtOnce = 16;
/**
 * Reads are sent at this rate, even if earlier ones are still unanswered: few enough to leave the cores to the hashes.
 */
const readEveryMs = 20;
const password = "Vermilion-Kettle-4871";

/**
 * Logins a second compared with bare password checks, and how long reads take meanwhile and at rest, in milliseconds.
 */
export interface LoginFigures {
  logins: Comparison;
  readsP99: Comparison;
}

/** The server takes the address of each call from its header, because limits count by address. */
export const trustLoopback = ["--trusted-proxy", "127.0.0.1/32"];

/** Lets 16 users log in again and again, each call from another address, while products are read. */
export async function compareLogins(bench: Bench): Promise<LoginFigures> {
  const dir = join(bench.workDir, "logins");
  copyStore(bench.store.dataDir, dir);
  const server = await startBodega(bench.binary, dir, trustLoopback);
  try {
    const emails = await createUsers(bench, server, loginsAtOnce);
    const { seconds, rounds } = bench.effort;
    await logInFor(server, emails, 1);
    await readFor(bench, server, 1);
    const atRest = await readFor(bench, server, seconds);
    const busy: number[] = [];
    const logins = await comparePairs(
      rounds,
      async () => {
        const [perSecond, times] = await Promise.all([
          logInFor(server, emails, seconds),
          readFor(bench, server, seconds),
        ]);
        busy.push(...times);
        return perSecond;
      },
      () => hashFor(seconds),
    );
    return { logins, readsP99: compareOnce(percentile(busy, 0.99), percentile(atRest, 0.99)) };
  } finally {
    await server.stop();
  }
}

/** Creates users who can log in; returns their addresses. */
export async function createUsers({ store }: Bench, { url }: Running, count: number): Promise<string[]> {
  const emails = Array.from({ length: count }, (_, index) => `user-${index}@example.com`);
  for (const email of emails) await post(`${url}/users/${namespaceQuery}`, { email, password }, store.headers);
  return emails;
}

/** Lets each user log in again and again; returns the logins answered a second. */
export async function logInFor(server: Running, emails: readonly string[], seconds: number): Promise<number> {
  const started = performance.now();
  const end = started + seconds * 1000;
  let answered = 0;
  const logInOn = async (email: string) => {
    while (performance.now() < end) {
      await logIn(server, email);
      answered += 1;
    }
  };
  await Promise.all(emails.map(logInOn));
  return (answered * 1000) / (performance.now() - started);
}

/** Logs a user in, from a new address. */
export async function logIn({ url }: Running, email: string): Promise<void> {
  await post(`${url}/auth/login/${namespaceQuery}`, { email, password }, { "X-Forwarded-For": newAddress() });
}

/** Returns the milliseconds of each read, from the moment at which it was due. */
async function readFor({ store }: Bench, { url }: Running, seconds: number): Promise<number[]> {
  const times: number[] = [];
  const reads: Promise<void>[] = [];
  const started = performance.now();
  for (let due = started; due < started + seconds * 1000; due += readEveryMs) {
    await Bun.sleep(Math.max(0, due - performance.now()));
    const id = store.productIds[reads.length % store.productIds.length];
    const read = async () => {
      const reply = await fetch(`${url}/products/${id}/${namespaceQuery}`, { headers: store.headers });
      await reply.arrayBuffer();
      if (reply.status !== 200) throw new Error(`A read was answered ${reply.status}.`);
      times.push(performance.now() - due);
    };
    reads.push(read());
  }
  await Promise.all(reads);
  return times;
}

async function hashFor(seconds: number): Promise<number> {
  const command = [process.execPath, join(import.meta.dir, "bare/hashing.ts"), String(seconds)];
  const child = Bun.spawn(command, { stdin: "ignore", stdout: "pipe", stderr: "inherit" });
  return Number(await child.stdout.text());
}

async function post(url: string, body: unknown, headers: Record<string, string>): Promise<void> {
  const reply = await fetch(url, {
    method: "POST",
    headers: { ...headers, "Content-Type": "application/json" },
    body: JSON.stringify(body),
  });
  const text = await reply.text();
  if (!reply.ok) throw new Error(`${new URL(url).pathname} was answered ${reply.status}: ${text}`);
}

let addresses = 0;

/** An address that no other call of this run had. */
export function newAddress(): string {
  addresses += 1;
  return `10.${addresses >> 16}.${(addresses >> 8) & 255}.${addresses & 255}`;
}

/** The value below which this share of the values lies. */
export function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}
