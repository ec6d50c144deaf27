import { expect, test } from "bun:test";
import { type LogLevel, logLevels } from "../../src/server/config/server-config.ts";
import { createLogWriter } from "../../src/server/logging/logger.ts";
import type { RequestLogEntry } from "../../src/server/logging/request-log.ts";
import { levelOf } from "../../src/server/logging/request-log.ts";

const entry = (level: LogLevel): RequestLogEntry => ({
  at: Date.UTC(2030, 0, 15),
  level,
  method: "GET",
  path: `/${level}/`,
  status: 200,
  ms: 1,
  request_id: `request-${level}`,
});

async function write(form: "text" | "json", least?: LogLevel): Promise<string[]> {
  let text = "";
  const add = async (more: string) => {
    text += more;
  };
  const log = createLogWriter(form, add, least);
  for (const level of logLevels) log.request(entry(level));
  for (const level of ["info", "warn", "error"] as const) log.notice(level, `notice of ${level}`);
  await log.flush();
  return text.trimEnd().split("\n");
}

test("the log has messages of its level and above, of requests and notices alike", async () => {
  for (const [index, least] of logLevels.entries()) {
    const lines = await write("json", least);
    const louder = logLevels.slice(index);
    const expected = [...louder, ...louder.filter((level) => level !== "debug")];
    expect(lines.map((line) => JSON.parse(line).level)).toEqual(expected);
  }
  expect((await write("text")).length).toBe((await write("text", "info")).length);
});

test("time and level come first in every line of JSON, and in a notice of text", async () => {
  for (const line of await write("json")) expect(Object.keys(JSON.parse(line)).slice(0, 2)).toEqual(["time", "level"]);
  expect((await write("text")).at(-1)).toMatch(/^\S+Z ERROR notice of error$/);
});

test("internal errors are errors, refusals are warnings, all else is information", () => {
  const levels = (...statuses: number[]) => statuses.map(levelOf);
  expect(levels(500, 503)).toEqual(["error", "error"]);
  expect(levels(401, 403, 429)).toEqual(["warn", "warn", "warn"]);
  expect(levels(200, 201, 400, 404, 409, 422)).toEqual(Array(6).fill("info"));
});

test("several processes write pieces that do not mix in a pipe, and one alone writes larger ones", async () => {
  const longest = async (writers?: "ofOne") => {
    const sizes: number[] = [];
    const log = createLogWriter("text", async (piece) => sizes.push(piece.length), "info", writers);
    for (let line = 0; line < 1000; line++) log.request(entry("info"));
    await log.flush();
    return Math.max(...sizes);
  };
  expect(await longest()).toBeLessThanOrEqual(4096);
  expect(await longest("ofOne")).toBeGreaterThan(4096);
});
