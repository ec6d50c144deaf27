import { expect, test } from "bun:test";
import { type LogLevel, logLevels } from "../../src/server/config/server-config.ts";
import { AppError } from "../../src/server/errors.ts";
import { createLogWriter } from "../../src/server/logging/logger.ts";
import { describeFault, formatRequest, levelOf, type RequestLogEntry } from "../../src/server/logging/request-log.ts";

const entry: RequestLogEntry = {
  at: Date.UTC(2030, 0, 15, 12),
  level: "info",
  method: "GET",
  path: "/products/",
  status: 200,
  ms: 1.23456,
  request_id: "request-1",
};
const everything: RequestLogEntry = {
  ...entry,
  level: "error",
  status: 503,
  code: 5001,
  namespace: "demo",
  caller: "app_1",
  ip: "203.0.113.5",
  origin: "https://shop.example.com",
  fault: 'AppError: it said "no"',
};
const forged = "/a b\n2030-01-01T00:00:00.000Z GET /forged/\r\x1b[31m\u2028\u009b灯";

test("a log line in text form has the known fields, in a fixed order", () => {
  expect(formatRequest(entry, "text")).toBe(
    "2030-01-15T12:00:00.000Z GET /products/ 200 1.23ms request_id=request-1\n",
  );
  expect(formatRequest(everything, "text")).toBe(
    '2030-01-15T12:00:00.000Z GET /products/ 503 1.23ms code=5001 namespace=demo caller=app_1 ip=203.0.113.5 origin=https://shop.example.com request_id=request-1 fault="AppError: it said \\"no\\""\n',
  );
});

test("a log line in JSON has the same fields, and the level", () => {
  expect(JSON.parse(formatRequest(entry, "json"))).toEqual({
    time: "2030-01-15T12:00:00.000Z",
    level: "info",
    method: "GET",
    path: "/products/",
    status: 200,
    ms: 1.23,
    request_id: "request-1",
  });
  const { at: _, ...rest } = everything;
  const all = { ...rest, time: "2030-01-15T12:00:00.000Z", ms: 1.23 };
  expect(JSON.parse(formatRequest(everything, "json"))).toEqual(all);
});

test("no text of a caller can add a line, a colour, or a field to the log", () => {
  for (const form of ["text", "json"] as const) {
    const texts = { path: forged, namespace: `x code=1 ${forged}`, origin: forged, fault: forged };
    const line = formatRequest({ ...everything, ...texts }, form);
    expect(line.indexOf("\n")).toBe(line.length - 1);
    expect([...line.slice(0, -1)].every((character) => character >= " " && character !== "\x7f")).toBe(true);
    if (form === "json") expect(JSON.parse(line).path).toBe(forged);
    else expect(line.split(" ").filter((word) => word.startsWith("code="))).toEqual(["code=5001"]);
  }
});

test("a secret, or a guest's order token, that was sent in a path is not logged", () => {
  const [id, token] = ["ord_01h455vb4pex5vsknk084sn02q", "0123456789abcdef".repeat(4)];
  for (const form of ["text", "json"] as const) {
    for (const start of ["sk_", "v2.", `${id}.`, `${id}%2E`, `${id}/`]) {
      const line = formatRequest({ ...entry, path: `/orders/${start}${token}/`, namespace: `${start}${token}` }, form);
      expect(line).toContain(`/orders/${start.slice(0, 3)}`);
      expect(line).not.toContain(token.slice(0, 8));
    }
    const path = `/orders/${id}/fulfillments/`;
    expect(formatRequest({ ...entry, path }, form)).toContain(path);
  }
});

test("a log line is short, with any path or namespace", () => {
  // This is longer than an atomic write to a pipe, so lines of several workers could mix.
  const long = { ...everything, path: "/x".repeat(50_000), namespace: "n".repeat(50_000) };
  for (const form of ["text", "json"] as const) expect(formatRequest(long, form).length).toBeLessThan(1500);
});

test("the log has one short line for an internal error, with kinds and messages, without stack or path", () => {
  const cause = new TypeError("cannot read /usr/lib/node/place.js:5\n    at work (/srv/app/x.ts:1:2)");
  const fault = describeFault(new AppError("unavailable", "Busy.", { cause }));
  expect(fault).toContain("AppError: Busy.");
  expect(fault).toContain("TypeError: cannot read");
  expect(fault).not.toMatch(/\/usr\/|\/srv\/|\n| at work/);
  expect(describeFault(new Error("x".repeat(10_000))).length).toBeLessThan(400);
});

test("a log line can describe any thrown value", () => {
  const loop = new Error("loop");
  loop.cause = loop;
  for (const thrown of [undefined, null, "text", 5, {}, Symbol("x"), loop]) expect(describeFault(thrown)).toMatch(/\S/);
});

const entryOf = (level: LogLevel): RequestLogEntry => ({
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
  for (const level of logLevels) log.request(entryOf(level));
  for (const level of ["info", "warn", "error"] as const) log.notice(level, `notice of ${level}`);
  await log.flush();
  return text.trimEnd().split("\n");
}

test("the log has messages of its level and above, for requests and for notices", async () => {
  for (const [index, least] of logLevels.entries()) {
    const lines = await write("json", least);
    const louder = logLevels.slice(index);
    const expected = [...louder, ...louder.filter((level) => level !== "debug")];
    expect(lines.map((line) => JSON.parse(line).level)).toEqual(expected);
  }
  expect((await write("text")).length).toBe((await write("text", "info")).length);
});

test("time and level are first in every JSON line, and in every notice in text form", async () => {
  for (const line of await write("json")) expect(Object.keys(JSON.parse(line)).slice(0, 2)).toEqual(["time", "level"]);
  expect((await write("text")).at(-1)).toMatch(/^\S+Z ERROR notice of error$/);
});

test("the level of a line is error for 5xx, warn for 401, 403 and 429, and info for other replies", () => {
  const levels = (...statuses: number[]) => statuses.map(levelOf);
  expect(levels(500, 503)).toEqual(["error", "error"]);
  expect(levels(401, 403, 429)).toEqual(["warn", "warn", "warn"]);
  expect(levels(200, 201, 400, 404, 409, 422)).toEqual(Array(6).fill("info"));
});

test("several processes write pieces to the log that are too small to mix in a pipe; a single process writes larger pieces", async () => {
  const longest = async (writers?: "ofOne") => {
    const sizes: number[] = [];
    const log = createLogWriter("text", async (piece) => sizes.push(piece.length), "info", writers);
    for (let line = 0; line < 1000; line++) log.request(entryOf("info"));
    await log.flush();
    return Math.max(...sizes);
  };
  expect(await longest()).toBeLessThanOrEqual(4096);
  expect(await longest("ofOne")).toBeGreaterThan(4096);
});
