import { expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { openShop, useBinaries } from "../support/binary.ts";
import { findPort } from "../support/port.ts";
import { until } from "../support/until.ts";
import { defaultDataDir, inspectDatabase, startLoad } from "./load.ts";
import { childrenOf, isRunning } from "./processes.ts";

const { installBinary } = useBinaries();

const clients = 32;
/** The number of rounds. For a thorough run: BODEGA_TEST_KILLS=20 bun test test/binary/kill.test.ts */
const kills = Number(process.env.BODEGA_TEST_KILLS ?? 3);

test.each([1, 2])(
  "kill -9 of a server with %d worker(s) under load loses no product that got a 201",
  async (workers) => {
    const binary = installBinary();
    const { namespace, auth } = await openShop(binary);
    const answered: string[] = [];
    for (let round = 0; round < kills; round++) {
      const server = await binary.serve("--workers", String(workers));
      const load = startLoad({ url: server.url, namespace, auth, clients });
      // The rounds have different lengths, so that a kill hits the WAL and its checkpoints in different states.
      const enough = 100 + Math.random() * 800;
      await until("some products", () => load.created.length >= enough);
      for (const pid of [server.pid, ...(workers > 1 ? childrenOf(server.pid) : [])]) {
        process.kill(pid, "SIGKILL");
      }
      await server.exited;
      await load.stop();
      expect(load.refused).toEqual([]);
      answered.push(...load.created);

      const { integrity, products } = await inspectDatabase(defaultDataDir(binary.dir));
      expect(integrity).toBe("ok");
      expect(answered.filter((id) => !products.has(id))).toEqual([]);
    }
    console.log(`${workers} worker(s): ${kills} kills, ${answered.length} products answered 201, all there`);
  },
  20_000 + kills * 10_000,
);

test("a killed worker is replaced while the server continues; workers exit and free the port when their parent is killed", async () => {
  const binary = installBinary();
  const { namespace, auth } = await openShop(binary);
  const where = ["--workers", "2", "--port", String(findPort())];
  const server = await binary.serve(...where, "--log", "json");
  const load = startLoad({ url: server.url, namespace, auth, clients, persistent: true });
  await until("some products", () => load.created.length > 100);

  const [victim, survivor] = childrenOf(server.pid) as [number, number];
  process.kill(victim, "SIGKILL");
  await until("the end of the worker", () => !isRunning(victim));
  const before = load.created.length;
  await until("more products", () => load.created.length > before + 100);
  const replaced = await until("a new worker", () => {
    const workers = childrenOf(server.pid).filter(isRunning);
    return workers.length === 2 && workers;
  });
  expect(replaced).toContain(survivor);
  expect(replaced).not.toContain(victim);
  await until("the line of the log", () => server.log().includes(`worker ${victim} ended`));

  server.signal("SIGKILL");
  for (const worker of replaced) await until("the end of a worker", () => !isRunning(worker));
  await load.stop();
  expect(load.refused).toEqual([]);

  const next = await binary.serve(...where);
  expect(next.url).toBe(server.url);
  expect(await next.end()).toBe(0);
  const { integrity, products } = await inspectDatabase(defaultDataDir(binary.dir));
  expect(integrity).toBe("ok");
  expect(load.created.filter((id) => !products.has(id))).toEqual([]);
}, 30_000);

test("workers that are killed repeatedly are replaced until the server stops", async () => {
  const binary = installBinary();
  await openShop(binary);
  const server = await binary.serve("--workers", "2");
  const isReady = () =>
    fetch(`${server.url}/health/ready`, { keepalive: false }).then(
      ({ ok }) => ok,
      () => false,
    );
  for (let round = 0; round < 3; round++) {
    const workers = await until("both workers", () => {
      const running = childrenOf(server.pid).filter(isRunning);
      return running.length === 2 && running;
    });
    for (const worker of workers) process.kill(worker, "SIGKILL");
    await until("their ends", () => !workers.some(isRunning));
  }
  await until("an answer", isReady);
  expect(server.log().match(/ended \(signal SIGKILL\); starting another/g)?.length).toBeGreaterThanOrEqual(5);
  expect(await server.end()).toBe(0);
}, 30_000);

test("a worker that is killed before it answers requests is replaced, and the server starts", async () => {
  const binary = installBinary();
  await openShop(binary);
  const pidFile = join(binary.dir, "pid");
  const starting = binary.serveBy(["sh", "-c", `echo $$ > ${pidFile}; exec ./bodega serve --port 0 --workers 2`]);
  // Polls, because the file is empty for a moment after its creation.
  const parent = await until(
    "the server",
    () => existsSync(pidFile) && (Number(readFileSync(pidFile, "utf8")) || null),
  );
  const victim = await until("a worker", () => childrenOf(parent)[0]);
  process.kill(victim, "SIGKILL");
  const server = await starting;
  expect(server.log()).toContain(`worker ${victim} ended (signal SIGKILL); starting another`);
  expect(childrenOf(parent).filter(isRunning)).toHaveLength(2);
  expect(await server.end()).toBe(0);
}, 20_000);

test("doctor counts a worker that hangs from its start, and after ten seconds the server kills and replaces it", async () => {
  const binary = installBinary();
  await openShop(binary);
  const server = await binary.serve("--workers", "2");
  const [victim = 0, other = 0] = childrenOf(server.pid);
  process.kill(victim, "SIGKILL");
  // The test stops a child only when it is a worker, because the server waits for that.
  const isWorker = (pid: number) => !readFileSync(`/proc/${pid}/cmdline`, "utf8").includes("--workers");
  const isNew = (pid: number) => pid !== victim && pid !== other && isWorker(pid);
  const hung = await until("a new worker", () => childrenOf(server.pid).find(isNew));
  process.kill(hung, "SIGSTOP");
  await until("the warning", () => server.log().includes(`(process ${hung}) hangs`));
  const { stdout } = await binary.run("doctor", "--json");
  const { findings } = JSON.parse(stdout) as { findings: { check: string; message: string }[] };
  expect(findings.find(({ check }) => check === "server")?.message).toStartWith("1 of 2 workers of the server");
  await until("its end", () => !isRunning(hung));
  await until("its replacement", () => childrenOf(server.pid).filter(isRunning).length === 2);
  expect(await server.end()).toBe(0);
}, 40_000);
