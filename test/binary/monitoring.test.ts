import { expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { requestServer } from "../../src/server/monitoring/listeners.ts";
import type { ServerStatus } from "../../src/server/monitoring/read-status.ts";
import { openShop, useBinaries } from "../support/binary.ts";
import { type MetricsPage, parseMetrics } from "../support/prometheus.ts";
import { until } from "../support/until.ts";
import { childrenOf } from "./processes.ts";

const { installBinary } = useBinaries();

const products = { route: "/products/", method: "GET", status: "200" };
const token = "a-token-for-the-tests";

/** Starts a server with two workers. Returns functions that load it and read its metrics. */
async function serveWatched() {
  const binary = installBinary();
  const { auth: authorization } = await openShop(binary);
  binary.env.BODEGA_METRICS_TOKEN = token;
  const server = await binary.serve("--workers", "2");
  // Repeats the request, because a killed or stopped worker may have got it.
  const readMetrics = async (): Promise<MetricsPage> => {
    for (let left = 20; left > 0; left--) {
      const init = {
        headers: { authorization: `Bearer ${token}` },
        keepalive: false,
        signal: AbortSignal.timeout(1500),
      };
      const reply = await fetch(`${server.url}/metrics`, init).catch(() => undefined);
      if (reply?.ok) return parseMetrics(await reply.text());
    }
    throw new Error("No worker serves the metrics.");
  };
  // A new connection for each request, so that both workers get requests.
  const ask = () => fetch(`${server.url}/products/?namespace=demo`, { headers: { authorization }, keepalive: false });
  const load = async (requests: number) => {
    const replies = await Promise.all(Array.from({ length: requests }, ask));
    expect(replies.map(({ status }) => status)).toEqual(Array(requests).fill(200));
  };
  return { binary, server, ask, load, readMetrics };
}

const readStatus = async (binary: { dir: string }) => {
  const reply = await requestServer(`${binary.dir}/bodega-data`, "/status");
  return (await reply?.json()) as ServerStatus;
};
const answered = (page: MetricsPage) => page.value("bodega_http_requests_total", products);
const up = (page: MetricsPage) => page.samples.filter(({ name, value }) => name === "bodega_process_up" && value === 1);

test("each process reports the figures of all processes, even if a worker hangs or is killed under load", async () => {
  const { binary, server, ask, load, readMetrics } = await serveWatched();
  await load(60);
  for (const page of [await readMetrics(), await readMetrics(), await readMetrics()]) {
    expect(answered(page)).toBe(60);
    expect(up(page).map(({ labels }) => labels.process)).toEqual(["main", "1", "2"]);
  }

  const [victim = 0, other = 0] = childrenOf(server.pid);
  let isLoading = true;
  const counts: number[] = [];
  const loading = Array.from({ length: 4 }, async () => {
    // Ignores requests that end without a reply because their worker was killed.
    while (isLoading) await ask().catch(() => {});
  });
  const looking = (async () => {
    while (isLoading) counts.push(answered(await readMetrics()));
  })();
  await until("some counting", () => counts.length > 3);
  process.kill(victim, "SIGKILL");
  await until("another worker", async () => {
    const children = childrenOf(server.pid);
    return !children.includes(victim) && up(await readMetrics()).length === 3;
  });
  isLoading = false;
  await Promise.all([...loading, looking]);
  expect(counts.toSorted((a, b) => a - b)).toEqual(counts);

  const before = answered(await readMetrics());
  await load(40);
  expect(answered(await readMetrics()) - before).toBe(40);

  process.kill(other, "SIGSTOP");
  const page = await readMetrics();
  const hung = await binary.run("doctor", "--json");
  process.kill(other, "SIGCONT");
  const { findings } = JSON.parse(hung.stdout) as { findings: { check: string; severity: string; remedy: string }[] };
  const told = findings.filter(({ check }) => check === "server").map(({ severity, remedy }) => [severity, remedy]);
  expect([hung.code, told]).toEqual([1, [["error", expect.stringContaining("the server's log")]]]);
  expect(answered(page)).toBe(before + 40);
  expect(up(page).length).toBe(2);
  await until("its answer", async () => up(await readMetrics()).length === 3);
  expect(await server.end()).toBe(0);
}, 30_000);

test("doctor and the metrics report workers that end at each start", async () => {
  const { binary, server, readMetrics } = await serveWatched();
  const report = async (left: number) => {
    const isMissing = async () => (await readStatus(binary)).processes.filter((one) => one.answers).length === left + 1;
    await until("the missing worker", isMissing);
    // Only workers serve metrics, so there are no metrics while no worker runs.
    const page = left > 0 ? await readMetrics() : undefined;
    const doctor = JSON.parse((await binary.run("doctor", "--json")).stdout) as { findings: Record<string, string>[] };
    return {
      configured: page?.value("bodega_workers_configured"),
      workers: page?.value("bodega_workers"),
      up: page && up(page).map(({ labels }) => labels.process),
      doctor: doctor.findings.filter(({ check }) => check === "server").map((one) => [one.severity, one.message]),
    };
  };
  const message = (left: number) =>
    `${2 - left} of 2 workers of the server (process ${server.pid}) do not answer. The server replaces workers that hang or end.`;
  writeFileSync(`${binary.dir}/bodega-data/secret.key`, "x".repeat(64));
  const [first = 0, second = 0] = childrenOf(server.pid);
  process.kill(first, "SIGKILL");
  const one = await report(1);
  expect(one).toEqual({
    configured: 2,
    workers: 1,
    up: ["main", expect.stringMatching(/^[12]$/)],
    doctor: [["error", message(1)]],
  });
  process.kill(second, "SIGKILL");
  expect((await report(0)).doctor).toEqual([["error", message(0)]]);
  expect(await server.end()).toBe(0);
}, 30_000);

test("the control socket finds doctor's request in any worker, and adds up the figures of all workers", async () => {
  const { binary, server, load } = await serveWatched();
  await load(10);
  const socket = `${binary.dir}/bodega-data/server.sock`;
  const found = await Promise.all(
    Array.from({ length: 6 }, async (_, number) => {
      const id = `doctor-0000000${number}`;
      await fetch(`${server.url}/health/live`, { headers: { "x-request-id": id }, keepalive: false });
      const reply = await fetch(`http://localhost/requests?id=${id}`, { unix: socket });
      return ((await reply.json()) as { request_id: string }).request_id === id;
    }),
  );
  expect(found).toEqual(Array(6).fill(true));
  const status = await readStatus(binary);
  expect(status.tenants).toEqual([{ namespace: "demo", requests: 10, errors: 0 }]);
  expect([status.workers, status.processes.map(({ name }) => name)]).toEqual([2, ["main", "1", "2"]]);
  expect(await server.end("SIGINT")).toBe(0);
});
