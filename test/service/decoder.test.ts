import { afterEach, expect, test } from "bun:test";
import { decodeApart } from "../../src/server/modules/media/decoder.ts";
import { childrenOf, isRunning } from "../binary/processes.ts";
import { failureOf } from "../support/failure.ts";
import { newPng } from "../support/pictures.ts";
import { until } from "../support/until.ts";

const decode = (side: number, deadlineMs?: number) =>
  decodeApart({ upload: newPng(side, side), maxSide: 40 }, deadlineMs);
const running = () => childrenOf(process.pid);
const before = new Set(running());
const decoders = () => running().filter((pid) => !before.has(pid));

afterEach(async () => {
  for (const pid of decoders()) process.kill(pid, "SIGKILL");
  await until("the process has ended", () => decoders().length === 0);
});

test("pictures are decoded in one process, which is kept for the next", async () => {
  expect(await decode(50)).toMatchObject({ width: 40, height: 40 });
  const [first] = decoders();
  expect(await decode(60)).toMatchObject({ width: 40, height: 40 });
  expect(decoders()).toEqual([first as number]);
});

test("a picture that is not decoded before the deadline is refused, and the next one is decoded", async () => {
  expect(await failureOf(decode(4000, 1))).toMatchObject({
    kind: "validationFailed",
    message: expect.stringContaining("takes too long to decode"),
  });
  expect(await decode(50)).toMatchObject({ width: 40 });
});

test("a picture whose process is killed is unavailable, and the next one is decoded", async () => {
  await decode(50);
  const killed = failureOf(decode(5000));
  for (const pid of decoders()) process.kill(pid, "SIGKILL");
  expect(await killed).toMatchObject({ kind: "unavailable" });
  expect(await decode(50)).toMatchObject({ width: 40 });
});

test("the process ends with the one that started it", async () => {
  const path = new URL("../../src/server/modules/media/decoder.ts", import.meta.url).pathname;
  const file = new URL("../support/pictures.ts", import.meta.url).pathname;
  const script = `const { decodeApart } = await import(${JSON.stringify(path)});
    const { newPng } = await import(${JSON.stringify(file)});
    await decodeApart({ upload: newPng(), maxSide: 40 }); console.log("done"); setInterval(() => {}, 1000);`;
  const parent = Bun.spawn([process.execPath, "-e", script], { stdout: "pipe" });
  await parent.stdout.getReader().read();
  const children = childrenOf(parent.pid);
  expect(children).toHaveLength(1);
  parent.kill("SIGKILL");
  await parent.exited;
  await until("the process has ended", () => children.every((pid) => !isRunning(pid)));
});
