import { expect, test } from "bun:test";
import { closeSync, constants, openSync, readSync } from "node:fs";
import { join } from "node:path";
import { openShop, useBinaries } from "../support/binary.ts";
import { until } from "../support/until.ts";

const { installBinary } = useBinaries();

const path = "/products/?namespace=demo";

test("the server continues when the program that reads its log ends", async () => {
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
  for (let round = 0; round < 4; round++) {
    expect(await Promise.all(Array.from({ length: 50 }, request))).toEqual(Array(50).fill(200));
  }
  expect(await server.end()).toBe(0);
});

function readText(file: number): string {
  const bytes = Buffer.alloc(65_536);
  try {
    return bytes.toString("utf8", 0, readSync(file, bytes));
  } catch {
    // The file may not exist at this moment.
    return "";
  }
}
