import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { existsSync, mkdirSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { ServerActivity } from "../../src/cli/commands/top/compare-status.ts";
import { requestServer } from "../../src/server/monitoring/listeners.ts";
import type { RecentRequest } from "../../src/server/monitoring/process-monitor.ts";
import type { ServerStatus } from "../../src/server/monitoring/read-status.ts";
import { parseMetrics } from "../support/prometheus.ts";
import type { Serving } from "../support/serving.ts";
import { until } from "../support/until.ts";
import { command, makeDir, openCli, runAtTerminal, stripEscapes, useServers } from "./run-bodega.ts";

const token = "a-token-for-the-tests";
// A path that is too long for a socket.
const longDir = join(makeDir(), "d".repeat(120));
mkdirSync(longDir);
const cli = openCli(join(longDir, "data"));
const env = cli.environment();
type Cli = typeof cli;
const start = useServers();
const watching: Bun.Subprocess[] = [];

/** Starts a server on a free port. */
async function serve({ environment }: Cli, args: string[] = [], more: Record<string, string> = {}): Promise<Serving> {
  return start(["serve", "--port", "0", ...args], { env: environment(more) });
}

/** Starts `top` in its own terminal. */
function openTop({ environment }: Cli) {
  const decoder = new TextDecoder();
  let screen = "";
  const child = Bun.spawn([...command, "top", "--interval", "1s"], {
    env: { TERM: "xterm", ...environment() },
    terminal: {
      cols: 100,
      rows: 24,
      data(_terminal, bytes) {
        screen += decoder.decode(bytes, { stream: true });
      },
    },
  });
  watching.push(child);
  return {
    terminal: child.terminal as Bun.Terminal,
    exited: child.exited,
    kill: (signal: NodeJS.Signals) => child.kill(signal),
    /** Returns the last complete picture on the screen. */
    picture: () => stripEscapes(screen.split("\u001b[?2026h").findLast((text) => text.includes("\u001b[?2026l")) ?? ""),
  };
}

const status = async ({ dataDir }: Cli) => (await (await requestServer(dataDir, "/status"))?.json()) as ServerStatus;

/** Starts a server with one store, which has refused five requests. */
async function serveShop(shop: Cli, args?: string[], more?: Record<string, string>): Promise<Serving> {
  await shop.json("tenant", "create", "demo");
  const served = await serve(shop, args, more);
  for (let number = 0; number < 5; number++) await fetch(`${served.url}/products/?namespace=demo`);
  return served;
}

/** A server for tests that do not stop it and do not call its store. */
let server: Serving;
beforeAll(async () => {
  server = await serveShop(cli, [], { BODEGA_METRICS_TOKEN: token });
});
afterAll(async () => {
  for (const child of watching) child.kill("SIGKILL");
});

describe("the control socket", () => {
  test("can be opened by the account of the server only, even with a very long path", () => {
    const { mode } = statSync(join(cli.dataDir, "server.sock"));
    expect((mode & 0o777).toString(8)).toBe("600");
  });

  test("returns the status of the server with its counts", async () => {
    const said = await status(cli);
    expect(said).toMatchObject({ pid: server.pid, url: server.url, workers: 1, queues: { mail: { waiting: 0 } } });
    expect(said.processes.map(({ name, pid }) => [name, pid])).toEqual([["main", server.pid]]);
    expect(said.tenants).toEqual([{ namespace: "demo", requests: 5, errors: 5 }]);
    expect(said.database.bytes).toBe(statSync(join(cli.dataDir, "bodega.db")).size);
    expect(Date.parse(said.at)).toBeGreaterThan(Date.parse(said.started_at));
  });

  test("returns how a request of the doctor arrived, and 404 for any other", async () => {
    const id = "doctor-0123456789";
    await fetch(`${server.url}/health/live`, { headers: { "x-request-id": id, "x-forwarded-for": "192.0.2.1" } });
    const reply = await requestServer(cli.dataDir, `/requests?id=${id}`);
    expect((await reply?.json()) as RecentRequest).toMatchObject({
      request_id: id,
      peer: "127.0.0.1",
      client: "127.0.0.1",
      protocol: "http",
      forwarded: { "x-forwarded-for": "192.0.2.1" },
    });
    expect((await requestServer(cli.dataDir, "/requests?id=doctor-another"))?.status).toBe(404);
    expect((await requestServer(cli.dataDir, "/nothing"))?.status).toBe(404);
  });
});

test("the server serves its metrics with the token", async () => {
  const page = await fetch(`${server.url}/metrics`, { headers: { authorization: `Bearer ${token}` } });
  const metrics = parseMetrics(await page.text());
  expect(metrics.value("bodega_tenant_requests_total", { namespace: "demo" })).toBe(5);
  expect(metrics.value("bodega_database_size_bytes")).toBeGreaterThan(0);
});

describe("top", () => {
  test("prints only once without a terminal, and with TERM=dumb, --once or --json", async () => {
    const [plain, dumb, once, json] = await Promise.all([
      cli.run(["top"]),
      runAtTerminal(["top"], [], { env: { ...env, TERM: "dumb" }, columns: 200 }),
      runAtTerminal(["top", "--once"], [], { env, columns: 200 }),
      cli.json("top") as unknown as Promise<ServerActivity>,
    ]);
    expect([plain.code, dumb.code, once.code, plain.stderr]).toEqual([0, 0, 0, ""]);
    for (const text of [plain.stdout, dumb.screen.replaceAll("\r", ""), stripEscapes(once.screen)]) {
      expect(text).toMatch(/^Bodega \S+ {2}up .* 1 process {2}http:/);
      expect(text).toMatch(/^demo +[\d.]+ +[\d.]+ +5$/m);
      expect(text).toMatch(/^GET \/products\/ /m);
    }
    expect(plain.stdout + dumb.screen).not.toContain("\u001b");
    expect(json.tenants).toEqual([{ namespace: "demo", per_second: 0, errors_per_second: 0, total: 5 }]);
    expect(json.interval_seconds).toBeGreaterThanOrEqual(1);
  });

  test.each([
    ["q", "q", 40, 0],
    ["ctrl-C", "\u0003", 200, 130],
  ])("draws on the alternate screen until %s, and restores the terminal", async (_name, key, columns, code) => {
    const left = await runAtTerminal(["top"], [["GET /products/", key]], { env, columns });
    expect(left.code).toBe(code);
    expect(left.screen).toStartWith("\u001b[?1049h\u001b[?25l");
    expect(left.screen).toEndWith("\u001b[?25h\u001b[?1049l");
    const lines = stripEscapes(left.screen).split("\n");
    expect(lines.filter((line) => Bun.stringWidth(line) > columns)).toEqual([]);
    expect(lines.some((line) => line.startsWith("demo"))).toBe(true);
    for (const part of ["p99 ", " in total", "5206: 5", "limited 0", " free", "WAL "]) {
      expect(lines.some((line) => line.includes(part))).toBe(true);
    }
  });

  test("follows the activity and the size of the terminal", async () => {
    const own = openCli();
    const busy = await serveShop(own);
    const top = openTop(own);
    await until("the first picture", () => top.picture().includes("GET /products/"));
    top.terminal.resize(50, 7);
    await until("requests", async () => {
      await fetch(`${busy.url}/products/?namespace=demo`);
      return /Requests +[1-9]\d*(\.\d)?\/s/.test(top.picture());
    });
    const lines = top.picture().trimEnd().split("\n");
    expect(lines.length).toBe(7);
    expect(Math.max(...lines.map((line) => Bun.stringWidth(line)))).toBeLessThanOrEqual(50);
    top.terminal.write("q");
    expect(await top.exited).toBe(0);
  }, 20_000);

  test("fails with a reason without a server, or with an invalid interval", async () => {
    const none = await openCli().failure("top");
    expect([none.code, none.error.message]).toEqual([1, expect.stringContaining("or start it: bodega serve")]);
    for (const interval of ["0", "999", "2h", "soon"]) {
      const { code, error } = await cli.failure("top", "--interval", interval);
      expect([interval, code, error.details?.[0]?.field]).toEqual([interval, 2, "--interval"]);
    }
  });
});

test("a server removes its socket when it ends, and replaces a socket that a killed server left", async () => {
  const own = openCli(join(longDir, "own"));
  const killed = await serveShop(own);
  const before = await status(own);
  // A `top` that runs already continues with the next server.
  const top = openTop(own);
  await until("the first picture", () => top.picture().startsWith("Bodega"));
  await killed.end("SIGKILL");
  expect(existsSync(join(own.dataDir, "server.sock"))).toBe(true);
  expect(await requestServer(own.dataDir, "/status")).toBeNull();
  expect((await own.failure("top")).code).toBe(1);
  await until("its absence", () => top.picture().startsWith("The server does not answer."));

  const next = await serve(own);
  await until("its return", () => top.picture().startsWith("Bodega"));
  top.terminal.write("q");
  expect(await top.exited).toBe(0);
  const after = await status(own);
  expect(after.pid).toBe(next.pid);
  expect(after.pid).not.toBe(before.pid);
  expect(await next.end()).toBe(0);
  expect(readdirSync(own.dataDir)).not.toContain("server.sock");

  // A plain file in place of the socket also means that no server runs.
  writeFileSync(join(own.dataDir, "server.sock"), "");
  expect(await requestServer(own.dataDir, "/status")).toBeNull();
}, 20_000);
