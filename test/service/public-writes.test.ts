import { expect, test } from "bun:test";
import type { Tenant } from "../../src/server/context.ts";
import type { Database } from "../../src/server/db/session.ts";
import { AppError } from "../../src/server/errors.ts";
import {
  addHit,
  type HitBucket,
  purgePublicHits,
  WriteLimiter,
  waitOf,
} from "../../src/server/modules/rate-limits/public-writes.ts";
import { vault } from "../support/app.ts";
import { newAddress } from "../support/client.ts";
import { createClock, type FakeClock } from "../support/clock.ts";
import { failureOf } from "../support/failure.ts";
import { onEachDatabase } from "../support/suite.ts";
import { until } from "../support/until.ts";

type Limits = Pick<Tenant, "addressWrites" | "visitorWrites">;
const minute = 60_000;
let tenants = 0;

/** Returns the fields of a store that the limiter reads, with these limits. */
const store = (limits: Partial<Limits> = {}) =>
  ({ id: `tnt_${tenants++}`, addressWrites: 3, visitorWrites: 3, ...limits }) as Tenant;

const visitor = () => `vis_${Bun.randomUUIDv7("hex")}`;

/** Counts one write. Returns "counted", or the seconds to wait. */
async function ask(limiter: WriteLimiter, tenant: Tenant, address: string | null, actor: string | null = null) {
  try {
    await limiter.count(tenant, address, actor);
    return "counted";
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 5107) throw error;
    return error.retryAfter as number;
  }
}

/** Makes this many writes. Returns how many were accepted. */
async function admitted(times: number, limiter: WriteLimiter, ...write: [Tenant, string | null, (string | null)?]) {
  let count = 0;
  for (let n = 0; n < times; n++) if ((await ask(limiter, ...write)) === "counted") count += 1;
  return count;
}

/** Returns a limiter whose counts stay in memory, because no timer runs to exchange them. */
function alone(clock: FakeClock = createClock()) {
  const db = { batch: () => Promise.reject(new AppError("unavailable")) } as unknown as Database;
  return { clock, limiter: new WriteLimiter({ db, vault, now: clock.now, notice: () => {} }) };
}

test("no minute has more writes than allowed, and Retry-After is the exact time to wait", async () => {
  const tenant = store({ addressWrites: 7, visitorWrites: 0 });
  const { clock, limiter } = alone();
  const address = newAddress();
  const taken: number[] = [];
  let state = 5;
  for (let n = 0; n < 300; n++) {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    clock.advance((state >>> 16) % (n % 3 === 0 ? 20_000 : 600));
    for (let burst = state % 4; burst >= 0; burst--) {
      const answer = await ask(limiter, tenant, address);
      const recent = taken.filter((at) => at > clock.now() - minute).length;
      if (answer === "counted") {
        expect(recent).toBeLessThan(7);
        taken.push(clock.now());
      } else {
        // Hits of the same second expire together. So a minute may last up to a second longer, but is never shorter.
        const exact = minute - (clock.now() - (taken.at(-7) as number));
        expect(answer).toBeGreaterThanOrEqual(Math.max(1, Math.ceil(exact / 1000)));
        expect(answer).toBeLessThanOrEqual(Math.min(60, Math.ceil((exact + 1000) / 1000)));
        if (n % 10 === 0) {
          clock.advance((answer - 1) * 1000);
          expect(await ask(limiter, tenant, address)).toBe(1);
          clock.advance(1000);
          expect(await ask(limiter, tenant, address)).toBe("counted");
          taken.push(clock.now());
        }
      }
    }
  }
  expect(taken.length).toBeGreaterThan(75);
});

test("a write that one of two limits refuses counts for neither of them, and the longer wait is returned", async () => {
  const { clock, limiter } = alone();
  const tenant = store({ addressWrites: 4, visitorWrites: 2 });
  const address = newAddress();
  const [one, other, third] = [visitor(), visitor(), visitor()];
  expect(await admitted(9, limiter, tenant, address, one)).toBe(2);
  // The seven refused writes do not count for the address.
  clock.advance(10_000);
  expect(await admitted(9, limiter, tenant, address, other)).toBe(2);
  expect(await ask(limiter, tenant, address, visitor())).toBe(50);
  expect(await ask(limiter, tenant, address, other)).toBe(60);
  expect(await admitted(9, limiter, tenant, null, third)).toBe(2);
  clock.advance(1000);
  const crowded = newAddress();
  for (let n = 0; n < 4; n++) expect(await ask(limiter, tenant, crowded, visitor())).toBe("counted");
  // The visitor must wait 59 seconds and the address 60. The longer wait is returned.
  expect(await ask(limiter, tenant, crowded, third)).toBe(60);
  // Writes that the visitor's limit refused do not count for the address.
  const elsewhere = newAddress();
  expect(await admitted(9, limiter, tenant, elsewhere, other)).toBe(0);
  for (let n = 0; n < 4; n++) expect(await ask(limiter, tenant, elsewhere, visitor())).toBe("counted");
});

test("the error of a refused write names the limit, without names of settings", async () => {
  const { limiter } = alone();
  const tenant = store({ addressWrites: 1, visitorWrites: 1 });
  const refusalOf = async (address: string | null, actor: string | null) => {
    await limiter.count(tenant, address, actor);
    const { code, message } = (await failureOf(() => limiter.count(tenant, address, actor))) as AppError;
    return [code, message];
  };
  expect(await refusalOf(newAddress(), null)).toEqual([5107, "Too many writes from this address."]);
  expect(await refusalOf(null, visitor())).toEqual([5107, "Too many writes by this visitor."]);
  expect(await refusalOf(null, "usr_1")).toEqual([5107, "Too many writes by this user."]);
});

test("stores, addresses and visitors have separate limits; an IPv6 /64 network counts as one address", async () => {
  const { limiter } = alone();
  const tenant = store({ addressWrites: 2 });
  const address = newAddress();
  for (const [of, from, count] of [
    [tenant, address, 2],
    [tenant, newAddress(), 2],
    [store({ addressWrites: 2 }), address, 2],
    [tenant, `::ffff:${address}`, 0],
    [tenant, "2001:db8:1:1::1", 2],
    [tenant, "2001:db8:1:1:ffff::3", 0],
    [tenant, "2001:db8:1:2::1", 2],
  ] as const) {
    expect([from, await admitted(3, limiter, of, from)]).toEqual([from, count]);
  }
});

test("a limit of 0 means no limit, and a changed limit applies to the next write", async () => {
  const { clock, limiter } = alone();
  const tenant = store({ addressWrites: 0, visitorWrites: 0 });
  const [address, actor] = [newAddress(), visitor()];
  expect(await admitted(500, limiter, tenant, address, actor)).toBe(500);
  const limited = { ...tenant, addressWrites: 5 };
  expect(await admitted(9, limiter, limited, address, actor)).toBe(5);
  expect(await admitted(9, limiter, { ...tenant, addressWrites: 7 }, address, actor)).toBe(2);
  clock.advance(30_000);
  expect(await admitted(9, limiter, { ...tenant, addressWrites: 9 }, address, actor)).toBe(2);
  // With a lower limit, more hits must expire first: these seven expire together, in half a minute.
  expect(await ask(limiter, { ...tenant, addressWrites: 3 }, address)).toBe(30);
  expect(await ask(limiter, { ...tenant, addressWrites: 2 }, address)).toBe(60);
  expect(await ask(limiter, tenant, address, actor)).toBe("counted");
});

test("if the clock is set back by up to a minute, nobody is admitted sooner; if it is set back further, nobody is blocked", async () => {
  for (const backMs of [5000, minute, minute + 1, 86_400_000]) {
    const { clock, limiter } = alone();
    const tenant = store();
    const address = newAddress();
    expect(await admitted(9, limiter, tenant, address)).toBe(3);
    clock.advance(-backMs);
    const wait = await ask(limiter, tenant, address);
    if (backMs > minute) {
      expect(wait).toBe("counted");
    } else {
      expect(wait).toBe((backMs + minute) / 1000);
      clock.advance(backMs + minute - 1);
      expect(await ask(limiter, tenant, address)).toBe(1);
      clock.advance(1);
      expect(await ask(limiter, tenant, address)).toBe("counted");
    }
  }
});

test("a write that another process reports late counts at the time at which it was made", async () => {
  const counts = new Map<string, HitBucket[]>();
  const now = createClock().now();
  for (const ms of [30_000, 10_000, 20_900, 10_900, 20_000]) addHit(counts, "one", now + ms);
  const waits = [5, 4, 3, 2, 1].map((max) => waitOf(counts.get("one"), max, now + 30_000));
  expect(waits).toEqual([40_900, 40_900, 50_900, 50_900, 60_000]);
});

onEachDatabase((suite) => {
  const { onFile } = suite;
  const notices: string[] = [];
  /** Creates the limiter of one process. */
  function makeLimiter(clock: FakeClock = createClock(), { db = suite.app.db } = {}): WriteLimiter {
    return new WriteLimiter({ db, vault, now: clock.now, notice: (message) => notices.push(message) });
  }

  test("processes that exchange counts never count a row twice, and never their own rows", async () => {
    const clock = createClock();
    const limiters = [makeLimiter(clock), makeLimiter(clock), makeLimiter(clock)] as const;
    const tenant = store({ visitorWrites: 10 });
    const actor = visitor();
    for (const limiter of limiters) expect(await admitted(2, limiter, tenant, null, actor)).toBe(2);
    for (let n = 0; n < 3; n++) for (const limiter of limiters) await limiter.sync();
    for (const limiter of limiters) expect(await admitted(99, limiter, tenant, null, actor)).toBe(4);
    await Promise.all(limiters.map((limiter) => limiter.stop()));
  });

  onFile("the database contains no address and no id, and expired rows are purged", async () => {
    // This time is later than the rows of other tests.
    const clock = createClock(Date.UTC(2031, 0, 15, 12));
    const limiter = makeLimiter(clock);
    const tenant = store();
    const [address, actor] = [newAddress(), visitor()];
    await ask(limiter, tenant, address, actor);
    await limiter.sync();
    const rows = async () => (await suite.app.db.execute("select * from public_hits")).rows;
    const text = JSON.stringify(await rows());
    expect(text).not.toContain(address);
    expect(text).not.toContain(actor);
    expect(text).toContain(String(clock.now()));
    clock.advance(2 * minute);
    await purgePublicHits({ db: suite.app.db, now: clock.now });
    expect(await rows()).toEqual([]);
    await limiter.stop();
  });

  onFile("a machine whose clock is slightly ahead blocks nobody for more than a minute", async () => {
    const clock = createClock();
    const [here, there] = [makeLimiter(clock), makeLimiter(createClock(clock.now() + 4000))];
    const tenant = store();
    const address = newAddress();
    expect(await admitted(3, there, tenant, address)).toBe(3);
    await there.sync();
    await here.sync();
    expect(await ask(here, tenant, address)).toBe(60);
    await Promise.all([here.stop(), there.stop()]);
  });

  onFile("all visitors are counted, even if many are new", async () => {
    const clock = createClock();
    const [here, there] = [makeLimiter(clock), makeLimiter(clock)];
    const tenant = store({ addressWrites: 0, visitorWrites: 2 });
    const crowd = Array.from({ length: 1000 }, visitor);
    for (const actor of crowd) await ask(here, tenant, null, actor);
    await here.sync();
    await there.sync();
    for (const actor of crowd) expect(await admitted(2, there, tenant, null, actor)).toBe(1);
    await Promise.all([here.stop(), there.stop()]);
  });

  test("a failing database does not block public writes, and gets their counts later", async () => {
    const clock = createClock();
    let isDown = true;
    const failing = {
      ...suite.app.db,
      batch: (...args: Parameters<Database["batch"]>) => {
        if (isDown) throw new AppError("unavailable");
        return suite.app.db.batch(...args);
      },
    } as unknown as Database;
    const [here, there] = [makeLimiter(clock, { db: failing }), makeLimiter(clock)];
    const tenant = store();
    const address = newAddress();
    notices.length = 0;
    expect(await admitted(2, here, tenant, address)).toBe(2);
    await until("the notice of what is not shared", () => notices.length > 0);
    expect(await failureOf(here.sync())).toMatchObject({ code: 5001 });
    expect(await admitted(2, here, tenant, address)).toBe(1);
    expect(notices).toEqual(["processes cannot share their rate limits for now: Temporarily unavailable."]);
    isDown = false;
    await here.sync();
    await there.sync();
    expect(await ask(there, tenant, address)).toBe(60);
    await Promise.all([here.stop(), there.stop()]);
  });
});
