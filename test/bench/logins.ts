import { availableParallelism } from "node:os";
import { compareOnce, comparePairs, percentile } from "./compare.ts";
import { type Bench, startOnCopy } from "./measure.ts";
import type { Running } from "./process.ts";
import type { Row } from "./report.ts";
import { callSteadily } from "./steady.ts";
import { call, namespaceQuery, trustLoopback } from "./store.ts";

const password = "Vermilion-Kettle-4871";
/** The reads are few, so that the cores are free for hashing. */
const reads = { everyMs: 20 };

/**
 * Measures logins of 16 users, each call from another address, while products are read. The bare side only checks
 * passwords.
 */
export async function measureLogins(bench: Bench): Promise<Row[]> {
  bench.say("log in");
  const { seconds, rounds } = bench.effort;
  const server = await startOnCopy(bench, "logins", trustLoopback);
  const hash = await Bun.password.hash(password, { algorithm: "argon2id", memoryCost: 19_456, timeCost: 2 });
  const readFor = (length: number) => callSteadily(bench, server, Bun.sleep(length * 1000), reads);
  try {
    const emails = await createUsers(bench, server, 16);
    await logInFor(server, emails, 1);
    await readFor(1);
    const atRest = await readFor(seconds);
    const busy: number[] = [];
    const logins = await comparePairs(
      rounds,
      async () => {
        const [perSecond, times] = await Promise.all([logInFor(server, emails, seconds), readFor(seconds)]);
        busy.push(...times);
        return perSecond;
      },
      () => checkFor(hash, seconds),
    );
    const meanwhile = compareOnce(percentile(busy, 0.99), percentile(atRest, 0.99));
    return [
      { name: "log in, 16 at once", unit: "/s", ...logins, mark: { atLeast: 0.9 } },
      { name: "get a product during logins, p99", unit: "ms", ...meanwhile, mark: { atMost: 20 } },
    ];
  } finally {
    await server.stop();
  }
}

/** Creates users who can log in. Returns their emails. */
export async function createUsers({ store }: Bench, server: Running, count: number): Promise<string[]> {
  const emails = Array.from({ length: count }, (_, index) => `user-${index}@example.com`);
  for (const email of emails) {
    await call(server, `/users/${namespaceQuery}`, store.headers, JSON.stringify({ email, password }));
  }
  return emails;
}

/** Lets each user log in again and again. Returns the logins per second. */
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

export async function logIn(server: Running, email: string): Promise<void> {
  const headers = { "X-Forwarded-For": newAddress() };
  await call(server, `/auth/login/${namespaceQuery}`, headers, JSON.stringify({ email, password }));
}

/** Only checks passwords, one per core at a time. Returns the checks per second. */
async function checkFor(hash: string, seconds: number): Promise<number> {
  const started = performance.now();
  let checked = 0;
  const checkOn = async () => {
    for (; performance.now() < started + seconds * 1000; checked += 1) await Bun.password.verify(password, hash);
  };
  await Promise.all(Array.from({ length: availableParallelism() }, checkOn));
  return (checked * 1000) / (performance.now() - started);
}

let addresses = 0;

/** Returns an IP address that no other call of this run uses. */
function newAddress(): string {
  addresses += 1;
  return `10.${addresses >> 16}.${(addresses >> 8) & 255}.${addresses & 255}`;
}
