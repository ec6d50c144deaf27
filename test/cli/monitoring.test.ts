import { beforeAll, describe, expect, test } from "bun:test";
import { existsSync, mkdirSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { requestServer } from "../../src/server/monitoring/listeners.ts";
import type { RecentRequest } from "../../src/server/monitoring/process-monitor.ts";
import type { ServerStatus } from "../../src/server/monitoring/read-status.ts";
import { parseMetrics } from "../support/prometheus.ts";
import type { Serving } from "../support/serving.ts";
import { makeDir, openCli, useServers } from "./run-bodega.ts";

const token = "a-token-for-the-tests";
// A path that is too long for a socket.
const longDir = join(makeDir(), "d".repeat(120));
mkdirSync(longDir);
const cli = openCli(join(longDir, "data"));
type Cli = typeof cli;
const start = useServers();

/** Starts a server on a free port. */
async function serve({ environment }: Cli, args: string[] = [], more: Record<string, string> = {}): Promise<Serving> {
  return start(["serve", "--port", "0", ...args], { env: environment(more) });
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

test("a server removes its socket when it ends, and replaces a socket that a killed server left", async () => {
  const own = openCli(join(longDir, "own"));
  const killed = await serveShop(own);
  const before = await status(own);
  await killed.end("SIGKILL");
  expect(existsSync(join(own.dataDir, "server.sock"))).toBe(true);
  expect(await requestServer(own.dataDir, "/status")).toBeNull();

  const next = await serve(own);
  const after = await status(own);
  expect(after.pid).toBe(next.pid);
  expect(after.pid).not.toBe(before.pid);
  expect(await next.end()).toBe(0);
  expect(readdirSync(own.dataDir)).not.toContain("server.sock");

  // A plain file in place of the socket also means that no server runs.
  writeFileSync(join(own.dataDir, "server.sock"), "");
  expect(await requestServer(own.dataDir, "/status")).toBeNull();
}, 20_000);
