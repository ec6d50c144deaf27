import { expect, test } from "bun:test";
import { checkLimit, countHit, purgeRateLimits, type RateLimit } from "../../src/server/modules/rate-limits/service.ts";
import { createClock } from "../support/clock.ts";
import { onEachDatabase } from "../support/suite.ts";

const limit: RateLimit = { name: "test", max: 3, windowMs: 1000 };
let subjects = 0;
const newSubject = () => `subject-${Bun.randomUUIDv7()}-${subjects++}`;

onEachDatabase((suite) => {
  /** Creates a counter of one subject, with its own clock. */
  function counter(max = limit) {
    const clock = createClock();
    const subject = newSubject();
    return { clock, hit: () => countHit({ db: suite.app.db, now: clock.now }, max, subject) };
  }

  test("no window of time contains more hits than allowed", async () => {
    const { clock, hit } = counter();
    const taken: number[] = [];
    let state = 3;
    for (let n = 0; n < 60; n++) {
      state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
      clock.advance((state >>> 16) % 400);
      const recent = taken.filter((at) => at > clock.now() - limit.windowMs);
      const wait = await hit();
      if (wait === 0) taken.push(clock.now());
      // The counter must allow exactly as many as a list of all hits.
      const oldest = recent[0] as number;
      expect(wait).toBe(recent.length < limit.max ? 0 : oldest + limit.windowMs - clock.now());
    }
  });

  test("of thirty concurrent hits from two processes, exactly ten are admitted", async () => {
    const elsewhere = await suite.database.openAgain();
    const { now } = createClock();
    const subject = newSubject();
    const ten = { ...limit, max: 10 };
    const waits = await Promise.all(
      Array.from({ length: 30 }, (_, n) => countHit({ db: n % 2 ? elsewhere : suite.app.db, now }, ten, subject)),
    );
    expect(waits.filter((wait) => wait === 0)).toHaveLength(10);
    expect(waits.filter((wait) => wait === limit.windowMs)).toHaveLength(20);
  });

  test("if a machine's clock is ahead by at most a window, its hits count at the time of that clock", async () => {
    const { clock, hit } = counter({ ...limit, max: 1 });
    expect(await hit()).toBe(0);
    clock.advance(-limit.windowMs);
    expect(await hit()).toBe(2000);
    clock.advance(1999);
    expect(await hit()).toBe(1);
    clock.advance(1);
    expect(await hit()).toBe(0);
  });

  test("a clock that is set back blocks nobody for longer than the window", async () => {
    for (const backMs of [limit.windowMs + 1, 86_400_000]) {
      const clock = createClock();
      const ctx = { db: suite.app.db, now: clock.now };
      const subject = newSubject();
      for (let n = 0; n < 3; n++) await countHit(ctx, limit, subject);
      clock.advance(-backMs);
      expect(await checkLimit(ctx, limit, subject)).toBe(0);
      for (const wait of [0, 0, 0, 1000, 1000]) expect(await countHit(ctx, limit, subject)).toBe(wait);
      expect(await checkLimit(ctx, limit, subject)).toBe(1000);
      clock.advance(1000);
      expect(await countHit(ctx, limit, subject)).toBe(0);
    }
  });

  test("checkLimit returns how long a hit must wait, and does not count it", async () => {
    const { clock, hit } = counter();
    const subject = newSubject();
    const ctx = { db: suite.app.db, now: clock.now };
    expect(await checkLimit(ctx, limit, subject)).toBe(0);
    for (let n = 0; n < 3; n++) {
      expect(await checkLimit(ctx, limit, subject)).toBe(0);
      await countHit(ctx, limit, subject);
      clock.advance(100);
    }
    for (let n = 0; n < 3; n++) expect(await checkLimit(ctx, limit, subject)).toBe(700);
    clock.advance(699);
    expect(await checkLimit(ctx, limit, subject)).toBe(1);
    clock.advance(1);
    expect(await checkLimit(ctx, limit, subject)).toBe(0);
    expect(await hit()).toBe(0);
  });

  test("a purge removes expired hits, and no hits that count", async () => {
    const early = createClock(Date.UTC(1999, 0, 1));
    const db = suite.app.db;
    const [old, young] = [newSubject(), newSubject()];
    await countHit({ db, now: early.now }, { ...limit, max: 1 }, old);
    early.advance(600);
    await countHit({ db, now: early.now }, { ...limit, max: 1 }, young);
    early.advance(500);
    const swept = await purgeRateLimits({ db, now: early.now });
    expect(swept).toBeGreaterThanOrEqual(1);
    expect(await purgeRateLimits({ db, now: early.now })).toBe(0);
    expect(await countHit({ db, now: early.now }, { ...limit, max: 1 }, young)).toBe(500);
    expect(await countHit({ db, now: early.now }, { ...limit, max: 1 }, old)).toBe(0);
  });
});
