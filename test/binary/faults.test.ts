import { expect, test } from "bun:test";
import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Connection } from "../../src/server/db/local/connection.ts";
import { loadLibsql } from "../../src/server/db/local/load-libsql.ts";
import { attempt } from "../../src/server/values/attempt.ts";
import { type Binary, openShop, useBinaries } from "../support/binary.ts";
import type { Serving } from "../support/serving.ts";
import { until } from "../support/until.ts";
import { call } from "./calls.ts";
import { childrenOf } from "./processes.ts";

const { installBinary } = useBinaries();

const path = "/products/?namespace=demo";

interface Report {
  findings: { check: string; severity: string; message: string }[];
}

async function serveShop(start = (binary: Binary) => binary.serve()) {
  const binary = installBinary();
  const { auth } = await openShop(binary);
  const server = await start(binary);
  const headers = { authorization: auth };
  const create = () => call(server.connect(), { path, headers, body: { title: "Lamp", price: 1 } });
  return { binary, server, create, dataDir: join(binary.dir, "bodega-data") };
}

async function readiness({ url }: Serving): Promise<[number, string | undefined]> {
  const reply = await fetch(`${url}/health/ready`);
  const { error } = (await reply.json()) as { error?: { message: string } };
  return [reply.status, error?.message];
}

test.skipIf(!Bun.which("prlimit"))(
  "a server is not ready while its disk refuses writes, and is ready again afterwards",
  async () => {
    // With this trap, a write beyond the limit fails with EFBIG instead of ending the process.
    const script = "trap '' XFSZ; exec ./bodega serve --port 0";
    const { binary, server, create } = await serveShop((binary) => binary.serveBy(["sh", "-c", script]));
    const limit = (bytes: string) => Bun.spawnSync(["prlimit", "--pid", String(server.pid), `--fsize=${bytes}:`]);
    expect(await readiness(server)).toEqual([200, undefined]);
    expect(limit("4096").exitCode).toBe(0);
    expect(await create()).toMatchObject({ status: 503, code: 5001 });
    for (let probe = 0; probe < 3; probe++) {
      expect(await readiness(server)).toEqual([503, "The database's disk cannot be read or written."]);
    }
    expect((await fetch(`${server.url}/health/live`)).status).toBe(200);
    expect((await binary.run("health", "--url", server.url)).code).not.toBe(0);
    const message = "The server is not ready: The database's disk cannot be read or written.";
    await until("doctor's error", async () => {
      const { findings } = JSON.parse((await binary.run("doctor", "--only", "server", "--json")).stdout) as Report;
      return findings.some((one) => Bun.deepMatch({ check: "server", severity: "error", message }, one));
    });
    limit("unlimited");
    await until("readiness", async () => (await readiness(server))[0] === 200);
    expect((await create()).status).toBe(201);
    expect(await server.end()).toBe(0);
  },
  60_000,
);

test("a server is not ready while another program keeps its database locked", async () => {
  const { server, create, dataDir } = await serveShop();
  const other = new Connection(await loadLibsql(), join(dataDir, "bodega.db"));
  // A job of the server may hold the lock now.
  await until("the lock", () => attempt(() => other.run("BEGIN IMMEDIATE")));
  expect(await create()).toMatchObject({ status: 503, code: 5001 });
  expect((await readiness(server))[0]).toBe(503);
  other.close();
  await until("readiness", async () => (await readiness(server))[0] === 200);
  expect((await create()).status).toBe(201);
  expect(await server.end()).toBe(0);
}, 30_000);

test.skipIf(!Bun.which("prlimit"))(
  "workers without a free file descriptor continue",
  async () => {
    const { binary, server, create } = await serveShop((binary) => binary.serve("--workers", "2"));
    const workers = childrenOf(server.pid);
    const limit = (files: string) => {
      for (const pid of workers) Bun.spawnSync(["prlimit", "--pid", String(pid), `--nofile=${files}:`]);
    };
    limit("5");
    // The main process answers with figures that it gets from the workers.
    expect((await binary.run("doctor", "--only", "server", "--json")).stdout).toContain("passed");
    limit("1024");
    expect(childrenOf(server.pid)).toEqual(workers);
    expect((await create()).status).toBe(201);
    expect(await server.end()).toBe(0);
  },
  20_000,
);

test("after the database file is removed, no write is acknowledged, and the server ends", async () => {
  const { server, create, dataDir } = await serveShop();
  expect((await create()).status).toBe(201);
  rmSync(join(dataDir, "bodega.db"));
  // Tries until the server has stopped.
  for (let tries = 0; tries < 5; tries++) {
    const reply = await create().catch(() => null);
    if (reply !== null) expect(reply).toMatchObject({ status: 503, code: 5001 });
  }
  expect(await server.exited).toBe(4);
});

test("a WAL with damage in its middle is copied, and each start and doctor report the copy", async () => {
  const { binary, server, create, dataDir } = await serveShop();
  for (let number = 0; number < 20; number++) expect((await create()).status).toBe(201);
  await server.end("SIGKILL");
  const file = join(dataDir, "bodega.db-wal");
  const wal = readFileSync(file);
  const at = 32 + Math.floor(wal.length / 2 / 4120) * 4120 + 2000;
  wal.writeUInt8(wal.readUInt8(at) ^ 1, at);
  writeFileSync(file, wal);
  for (let start = 0; start < 2; start++) {
    const next = await binary.serve();
    const line = /ERROR The WAL was damaged at frame \d+: \d+ valid frames with \d+ commits lie behind/;
    await until("the line of the log", () => line.test(next.log()));
    expect(await next.end()).toBe(0);
  }
  const kept = readdirSync(dataDir).filter((name) => name.includes("damaged"));
  expect(kept.map((name) => readFileSync(join(dataDir, name)).equals(wal))).toEqual([true]);
  const checked = await binary.run("db", "check", "--json");
  const { findings } = JSON.parse(checked.stdout) as Report;
  expect(findings).toMatchObject([
    { check: "file", severity: "error", message: expect.stringContaining("The WAL was") },
  ]);
  expect(checked.code).toBe(1);
}, 20_000);
