import { expect, test } from "bun:test";
import { readConfig } from "../../src/server/config/config.ts";
import { holdPort } from "../../src/server/runtime/port.ts";
import { findPort } from "../support/port.ts";

const open = (port: number, reusePort: boolean) =>
  Bun.serve({ hostname: "127.0.0.1", port, reusePort, fetch: () => new Response("answer") });

test("a port that the system picked is kept from other programs until the workers have opened it", async () => {
  const { port, release } = await holdPort(readConfig({ port: "0" }, {}));
  expect(() => open(port, false)).toThrow("in use");
  const worker = open(port, true);
  await release();
  expect(await (await fetch(worker.url)).text()).toBe("answer");
  await worker.stop(true);
});

test("a chosen port accepts no connections before the workers have opened it", async () => {
  const { port } = await holdPort(readConfig({ port: String(findPort()) }, {}));
  const other = open(port, false);
  expect(other.port).toBe(port);
  await other.stop(true);
});
