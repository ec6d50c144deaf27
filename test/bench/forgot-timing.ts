// Compares the time of `POST /auth/password/forgot/` for addresses with and without a user, with the mail server up,
// down and not configured. It prints figures for people, and fails nothing.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { compareSamples, type SampleComparison } from "./compare-samples.ts";
import { buildBinary } from "./executables.ts";
import { newAddress, percentile } from "./logins.ts";
import { findPort, type Running } from "./process.ts";
import { namespaceQuery, openTenant, startBodega } from "./store.ts";

const usage = `usage: bun test/bench/forgot-timing.ts [--calls 500] [--binary <path>]

  --calls   for existing and for missing addresses each, with every state of the mail server
  --binary  measure this executable instead of building dist/bodega`;

/** Calls before those that count, in which code is compiled and caches are filled. */
const warmUp = 50;

type Kind = "existing" | "missing";

/** The environment that makes each state, and what must be ended afterwards. */
const states: Record<string, () => Promise<{ env: Record<string, string>; close: () => void }>> = {
  async up() {
    const command = [process.execPath, join(import.meta.dir, "mail-sink.ts")];
    const sink = Bun.spawn(command, { stdin: "ignore", stdout: "pipe", stderr: "inherit" });
    process.once("exit", () => sink.kill());
    const { value } = await sink.stdout.getReader().read();
    const env = { BODEGA_SMTP_URL: new TextDecoder().decode(value).trim(), BODEGA_MAIL_FROM: "shop@example.com" };
    return { env, close: () => sink.kill() };
  },
  async down() {
    const url = `smtp://127.0.0.1:${await findPort()}`;
    return { env: { BODEGA_SMTP_URL: url, BODEGA_MAIL_FROM: "shop@example.com" }, close: () => {} };
  },
  absent: async () => ({ env: {}, close: () => {} }),
};

async function measureState(binary: string, dir: string, env: Record<string, string>, calls: number) {
  const headers = await openTenant(binary, dir);
  const server = await startBodega(binary, dir, ["--trusted-proxy", "127.0.0.1/32"], env);
  try {
    const emailOf = (kind: Kind, index: number) => `${kind}-${String(index).padStart(6, "0")}@example.com`;
    for (let index = 0; index < calls + warmUp; index++) {
      await post(server, "/users/", { email: emailOf("existing", index) }, headers);
    }
    for (let index = calls; index < calls + warmUp; index++) {
      for (const kind of ["existing", "missing"] as const) await timeForgot(server, emailOf(kind, index));
    }
    const times: Record<Kind, number[]> = { existing: [], missing: [] };
    // In pairs of random order, so that other load on the machine affects both.
    for (let index = 0; index < calls; index++) {
      const order: Kind[] = Math.random() < 0.5 ? ["existing", "missing"] : ["missing", "existing"];
      for (const kind of order) times[kind].push(await timeForgot(server, emailOf(kind, index)));
    }
    return times;
  } finally {
    await server.stop();
  }
}

async function timeForgot(server: Running, email: string): Promise<number> {
  const started = performance.now();
  await post(server, "/auth/password/forgot/", { email }, { "X-Forwarded-For": newAddress() });
  return performance.now() - started;
}

async function post({ url }: Running, path: string, body: unknown, headers: Record<string, string>): Promise<void> {
  const reply = await fetch(`${url}${path}${namespaceQuery}`, {
    method: "POST",
    headers: { ...headers, "Content-Type": "application/json" },
    body: JSON.stringify(body),
  });
  const text = await reply.text();
  if (!reply.ok) throw new Error(`${path} was answered ${reply.status}: ${text}`);
}

function format(state: string, times: Record<Kind, number[]>, { difference, interval, p }: SampleComparison): string {
  const ms = (value: number) => value.toFixed(3).padStart(8);
  const lines = (["existing", "missing"] as const).map(
    (kind) =>
      `  ${kind.padEnd(9)} median ${ms(percentile(times[kind], 0.5))} ms   p95 ${ms(percentile(times[kind], 0.95))} ms`,
  );
  const verdict = p < 0.01 ? "DIFFERENT" : "no difference seen";
  return [
    `SMTP ${state}`,
    ...lines,
    `  difference of the medians ${difference.toFixed(3)} ms, 95 % within ${interval.map((end) => end.toFixed(3)).join(" to ")} ms`,
    `  Mann-Whitney p = ${p.toFixed(3)}: ${verdict}`,
  ].join("\n");
}

const { values } = parseArgs({
  options: { calls: { type: "string", default: "500" }, binary: { type: "string" }, help: { type: "boolean" } },
});
if (values.help) {
  console.log(usage);
  process.exit(0);
}
const binary = values.binary === undefined ? buildBinary() : resolve(values.binary);
const workDir = mkdtempSync(join(tmpdir(), "bodega-timing-"));
process.once("exit", () => rmSync(workDir, { recursive: true, force: true }));
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => process.exit(130));
for (const [state, open] of Object.entries(states)) {
  const { env, close } = await open();
  const times = await measureState(binary, join(workDir, state), env, Number(values.calls));
  close();
  console.log(format(state, times, compareSamples(times.existing, times.missing)));
}
