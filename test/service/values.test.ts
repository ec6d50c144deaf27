import { expect, test } from "bun:test";
import { quoteWord } from "../../src/server/values/shell-quote.ts";
import { formatBytes, formatDuration, MiB, parseDuration } from "../../src/server/values/units.ts";

const hour = 3_600_000;

test("sizes are formatted in KiB, MiB and GiB", () => {
  expect([0, 1023, 1536, 200 * MiB].map(formatBytes)).toEqual(["0 bytes", "1023 bytes", "1.5 KiB", "200 MiB"]);
});

test("durations are formatted in their largest unit, and parsed from their short form", () => {
  expect([400, 1000, -59_000, hour - 1000, hour, 49 * hour].map((ms) => formatDuration(ms))).toEqual([
    ...["0 seconds", "1 second", "59 seconds", "1 hour", "1 hour", "2 days"],
  ]);
  expect([301_000, 36 * hour, 720 * hour].map((ms) => formatDuration(ms, true))).toEqual([
    ...["301 seconds", "36 hours", "30 days"],
  ]);
  expect(["45s", "30m", "24h", "90d", "2w"].map(parseDuration)).toEqual([
    ...[45_000, 1_800_000, 24 * hour, 90 * 24 * hour, 14 * 24 * hour],
  ]);
  expect(["", "24", "h", "1.5h", "-1h", "1y"].map(parseDuration)).toEqual(Array(6).fill(undefined));
});

test("words are quoted for a POSIX shell if necessary", () => {
  expect(["/srv/shop", "it's here", ""].map(quoteWord)).toEqual(["/srv/shop", "'it'\\''s here'", "''"]);
});
