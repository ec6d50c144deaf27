import { expect, test } from "bun:test";
import { createClockCheck } from "../../src/server/runtime/purging.ts";
import { createClock } from "../support/clock.ts";
import { onDatabase } from "../support/suite.ts";

const minute = 60_000;

onDatabase("file", (suite) => {
  test("background jobs do not run while the clock is behind the newest row, or just after it has jumped", async () => {
    const { app } = suite;
    await suite.shop();
    const passing = createClock(0);
    const wall = createClock(app.clock.now());
    const notices: string[] = [];
    const notice = (level: string, message: string) => notices.push(`${level} ${message}`);
    const isRight = createClockCheck(app.db, wall.now, passing.now, notice);
    const pass = (ms: number, jump = 0) => {
      passing.advance(ms);
      wall.advance(ms + jump);
      return isRight();
    };
    expect(await pass(minute)).toBe(true);
    expect(await pass(minute, minute)).toBe(true);
    expect(notices).toEqual([]);
    expect(await pass(minute, 40 * 24 * 60 * minute)).toBe(false);
    expect(await pass(minute)).toBe(true);
    expect(await pass(minute, -41 * 24 * 60 * minute)).toBe(false);
    // The clock is a day behind the audit log, until it is set.
    expect([await pass(minute), await pass(minute)]).toEqual([false, false]);
    expect(await pass(minute, 24 * 60 * minute)).toBe(false);
    expect(await pass(minute)).toBe(true);
    const effect = "nothing expires and no old rows are deleted until the next check";
    expect(notices).toEqual([
      `warn the clock jumped by 40 days; ${effect}`,
      `warn the clock jumped by 41 days; ${effect}`,
      expect.stringContaining("warn the clock is behind the newest data"),
      `warn the clock jumped by 1 day; ${effect}`,
    ]);
  });
});
