import { afterEach, expect, test } from "bun:test";
import { decodeApart } from "../../src/server/modules/media/decoder.ts";
import { childrenOf } from "../binary/processes.ts";
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

test("a picture is decoded in a process of its own, which ends with it", async () => {
  expect(await decode(50)).toMatchObject({ width: 40, height: 40 });
  await until("the process has ended", () => decoders().length === 0);
});

test("a picture that is not decoded before the deadline is refused, and the next one is decoded", async () => {
  expect(await failureOf(decode(4000, 1))).toMatchObject({
    kind: "validationFailed",
    message: expect.stringContaining("takes too long to decode"),
  });
  expect(await decode(50)).toMatchObject({ width: 40 });
});

test("a picture whose process is killed is unavailable, and the next one is decoded", async () => {
  const killed = failureOf(decode(5000));
  for (const pid of decoders()) process.kill(pid, "SIGKILL");
  expect(await killed).toMatchObject({ kind: "unavailable" });
  expect(await decode(50)).toMatchObject({ width: 40 });
});
