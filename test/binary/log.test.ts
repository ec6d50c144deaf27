import { describe, expect, test } from "bun:test";
import { closeSync, constants, openSync, readSync } from "node:fs";
import { join } from "node:path";
import { openShop, useBinaries } from "../support/binary.ts";
import { secretForm } from "../support/invariants.ts";
import { until } from "../support/until.ts";
import { type Call, call, fromElsewhere } from "./calls.ts";

const { installBinary } = useBinaries();

const path = "/products/?namespace=demo";

describe.each(["text", "json"])("the log as %s", (form) => {
  test("has one line per request, without credentials, however they were sent", async () => {
    const binary = installBinary();
    const { key } = await openShop(binary);
    const { app_id, app_secret } = key;
    const wrong = `sk_${"w".repeat(43)}`;
    const token = `v2.${"t".repeat(43)}`;
    const lamp = { title: "Lamp", price: 1 };
    const calls: Call[] = [app_secret, wrong].flatMap((secret) => [
      { path, headers: { authorization: `Bearer ${app_id}:${secret}` } },
      { path, headers: { authorization: `Bearer ${secret}` } },
      { path, headers: { authorization: `Basic ${btoa(`${app_id}:${secret}`)}` } },
      { path: `${path}&app_id=${app_id}&app_secret=${secret}` },
      { path: `${path}&app_id=${secret}` },
      { path, body: { ...lamp, app_id, app_secret: secret } },
      { path, body: `{"app_secret":"${secret}",` },
      { path: `/nowhere/?app_secret=${secret}` },
    ]);
    calls.push({ path: `${path}&user_id=usr_1&token=${token}` }, { path, body: { ...lamp, user_id: "usr_1", token } });

    const server = await binary.serve("--log", form, "--workers", "2", "--trusted-proxy", "127.0.0.1/32");
    const ids: string[] = [];
    for (const request of calls) {
      const connection = server.connect();
      const headers = { ...request.headers, ...fromElsewhere() };
      ids.push((await call(connection, { ...request, headers })).body.request_id);
      connection.end();
    }
    expect(await server.end()).toBe(0);

    const lines = server.log().trimEnd().split("\n");
    for (const id of ids) expect(lines.filter((line) => line.includes(id)).length).toBe(1);
    for (const secret of [app_secret, wrong, token]) {
      expect(server.log()).not.toContain(secret);
      expect(server.log()).not.toContain(btoa(`${app_id}:${secret}`));
    }
    expect(server.log() + server.stdout()).not.toMatch(secretForm);
    if (form === "json") {
      for (const line of lines) expect(JSON.parse(line)).toMatchObject({ level: expect.any(String) });
    }
  });
});

test("the server survives a reader of the log that goes away", async () => {
  const binary = installBinary();
  const { auth } = await openShop(binary);
  const pipe = join(binary.dir, "log");
  expect(Bun.spawnSync(["mkfifo", pipe]).exitCode).toBe(0);
  const reader = openSync(pipe, constants.O_RDONLY | constants.O_NONBLOCK);
  const server = await binary.serveBy(["sh", "-c", `exec ./bodega serve --port 0 2>log`]);
  const request = () => fetch(server.url + path, { headers: { authorization: auth } }).then(({ status }) => status);
  expect(await request()).toBe(200);
  await until("the line of the log", () => readText(reader).includes("GET /products/ 200"));
  closeSync(reader);
  for (let round = 0; round < 20; round++) {
    expect(await Promise.all(Array.from({ length: 50 }, request))).toEqual(Array(50).fill(200));
  }
  expect(await server.end()).toBe(0);
});

function readText(file: number): string {
  const bytes = Buffer.alloc(65_536);
  try {
    return bytes.toString("utf8", 0, readSync(file, bytes));
  } catch {
    // Nothing is there at the moment.
    return "";
  }
}
