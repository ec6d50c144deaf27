import { describe, expect, test } from "bun:test";
import { priorities } from "../../src/server/modules/notifications/sending/fan-out.ts";
import { createPushShares, most, type Slot } from "../../src/server/modules/notifications/sending/shares.ts";
import { createClock } from "../support/clock.ts";

type Shares = ReturnType<typeof createPushShares>;

function open() {
  const clock = createClock();
  return { clock, shares: createPushShares(clock.now) };
}

/** Takes slots for as long as there are any, as if each store had endlessly much due. */
function takeAll(shares: Shares, stores: string[], pool: number): Slot[] {
  const slots: Slot[] = [];
  for (;;) {
    for (const store of stores) shares.ask(store, pool);
    const taken = shares.take();
    if (taken.length === 0) return slots;
    slots.push(...taken);
  }
}

/** How many may go to a service at once. */
function enterAll(shares: Shares, service: string, pool: number = priorities.order): number {
  const entered: Slot[] = [];
  for (;;) {
    const slot: Slot = { tenantId: "a", pool };
    if (shares.enter(service, slot) > 0) break;
    entered.push(slot);
  }
  for (const slot of entered) shares.leave(service, slot);
  return entered.length;
}

/** In how many seconds a service may be sent to again; 0 where it may now. */
function waitOf({ shares, clock }: ReturnType<typeof open>, service: string, pool: number = priorities.order): number {
  const slot: Slot = { tenantId: "a", pool };
  const until = shares.enter(service, slot);
  if (until === 0) shares.leave(service, slot);
  return Math.max(until - clock.now(), 0) / 1000;
}

const taken = { tookMs: 20, isTaken: true };
const fail = (shares: Shares, device: string, more: { isSilent?: boolean; waitMs?: number; pool?: number } = {}) => {
  const { pool = priorities.order, isSilent = false, waitMs = 0 } = more;
  return shares.noteFailure("web one", pool, { registrationId: device, isSilent, waitMs });
};

test("each of the four priorities has a pool of its own: what comes after cannot take the slots of what comes first", () => {
  const { shares } = open();
  for (const pool of Object.values(priorities).toReversed()) {
    expect(takeAll(shares, ["a", "b"], pool)).toHaveLength(most.pool);
  }
});

test("one store leaves room for others, who share what there is", () => {
  const { shares } = open();
  expect(takeAll(shares, ["a"], 0)).toHaveLength(most.tenant);
  const others = takeAll(shares, ["a", "b", "c"], 0).map(({ tenantId }) => tenantId);
  expect(others.toSorted()).toEqual([..."bbbb", ..."cccc"]);
  shares.release({ tenantId: "a", pool: 0 });
  expect(takeAll(shares, ["a", "b", "c"], 0).map(({ tenantId }) => tenantId)).toEqual(["b"]);
});

test("of a service that is slow or has taken nothing yet little is in the air; much of one that takes what it is sent", () => {
  const { shares } = open();
  expect(enterAll(shares, "web one")).toBe(most.doubted.service);
  shares.noteAnswer("web one", { tookMs: 20, isTaken: false });
  expect(enterAll(shares, "web one")).toBe(most.doubted.service);
  shares.noteAnswer("web one", taken);
  expect(enterAll(shares, "web one")).toBe(most.service);
  expect(enterAll(shares, "web one", priorities.newMessage)).toBe(most.service);
  shares.noteAnswer("web one", { tookMs: 3000, isTaken: true });
  expect(enterAll(shares, "web one")).toBe(most.doubted.service);
  expect(enterAll(shares, "web other")).toBe(most.doubted.service);
});

test("services that have taken nothing have few places together, however many they are; the others have the rest", () => {
  const { shares } = open();
  shares.noteAnswer("web good", taken);
  const enterHosts = (tenantId: string) => {
    let entered = 0;
    for (let host = 0; host < 100; host++) {
      if (shares.enter(`web host-${tenantId}-${host}`, { tenantId, pool: priorities.newMessage }) === 0) entered += 1;
    }
    return entered;
  };
  expect([enterHosts("a"), enterHosts("b"), enterHosts("c")]).toEqual([
    most.doubted.tenant,
    most.doubted.pool - most.doubted.tenant,
    0,
  ]);
  expect(enterAll(shares, "web good", priorities.newMessage)).toBe(most.service);
  expect(enterAll(shares, "web unknown", priorities.newOrder)).toBe(most.doubted.service);
});

describe("a service is left alone", () => {
  test("not for what it says of one device, however often and however long that one is to wait", () => {
    const opened = open();
    opened.shares.noteAnswer("web one", taken);
    for (let n = 0; n < 20; n++) {
      expect(fail(opened.shares, "one", { waitMs: 3_600_000, isSilent: n % 2 === 0 })).toBe(false);
      expect(waitOf(opened, "web one")).toBe(0);
    }
    opened.shares.noteAnswer("web one", taken);
    expect(enterAll(opened.shares, "web one")).toBe(most.service);
  });

  test.each([
    ["five different devices in a row failed", false, 5],
    ["three different devices in a row got no answer", true, 3],
  ])("where %s", (_, isSilent, devices) => {
    const opened = open();
    const { shares, clock } = opened;
    shares.noteAnswer("web one", taken);
    // One that arrives in between, and it counts anew.
    for (let n = 1; n < devices; n++) expect(fail(shares, `${n}`, { isSilent })).toBe(false);
    shares.noteAnswer("web one", taken);
    for (let n = 1; n < devices; n++) expect(fail(shares, `${n}`, { isSilent })).toBe(false);
    expect(waitOf(opened, "web one")).toBe(0);
    expect([fail(shares, "last", { isSilent }), fail(shares, "more", { isSilent })]).toEqual([true, false]);
    expect(waitOf(opened, "web one")).toBe(5);
    clock.advance(5000);
    expect(enterAll(shares, "web one")).toBe(1);
    expect(shares.noteAnswer("web one", taken)).toBe(true);
    expect(enterAll(shares, "web one")).toBe(most.service);
  });

  test("a little longer each time, but never for more than a minute, whatever it asks for", () => {
    const opened = open();
    for (let n = 0; n < 4; n++) fail(opened.shares, `${n}`);
    const waits: number[] = [];
    for (let n = 0; n < 6; n++) {
      fail(opened.shares, "last");
      waits.push(waitOf(opened, "web one"));
      opened.clock.advance((waits.at(-1) as number) * 1000);
    }
    expect(waits).toEqual([5, 10, 20, 40, 60, 60]);
    fail(opened.shares, "last", { waitMs: 3_600_000 });
    expect(waitOf(opened, "web one")).toBe(60);
  });

  test("by what comes last only, where devices failed that never took anything", () => {
    const opened = open();
    opened.shares.noteAnswer("web one", taken);
    for (let n = 0; n < 9; n++) fail(opened.shares, `${n}`, { pool: priorities.newMessage });
    expect(waitOf(opened, "web one", priorities.newMessage)).toBe(5);
    expect(waitOf(opened, "web one", priorities.newOrder)).toBe(0);
    expect(waitOf(opened, "web one", priorities.message)).toBe(0);
  });

  test("after the first that hangs, where neither it nor the device has ever taken anything", () => {
    const opened = open();
    expect(fail(opened.shares, "one", { pool: priorities.newMessage, isSilent: true })).toBe(true);
    expect(waitOf(opened, "web one", priorities.newMessage)).toBe(5);
    expect(waitOf(opened, "web one", priorities.order)).toBe(0);
  });
});

test("a store whose service is full waits for its own, and is looked through for others where nothing moves there", () => {
  const { shares, clock } = open();
  shares.noteAnswer("web one", taken);
  const full = Array.from({ length: most.service }, (): Slot => ({ tenantId: "b", pool: 0 }));
  for (const slot of full) expect(shares.enter("web one", slot)).toBe(0);
  const [slot, ...rest] = takeAll(shares, ["a"], 0) as [Slot];
  for (const one of rest) shares.release(one);
  // Full and answering: its next one comes when one has gone.
  expect(shares.enter("web one", slot)).toBe(clock.now());
  expect(takeAll(shares, ["a"], 0)).toHaveLength(0);
  // Full and silent: whatever else the store has is looked for, but not all of it in one go; what is many comes later.
  shares.reopen();
  clock.advance(2000);
  const waits: number[] = [];
  shares.release(slot);
  for (let slots = takeAll(shares, ["a"], 0); slots.length > 0; slots = takeAll(shares, ["a"], 0)) {
    for (const one of slots) waits.push(shares.enter("web one", one) - clock.now());
    for (const one of slots) shares.release(one);
    if (waits.length > 1000) throw new Error("It does not end.");
  }
  expect(waits.length).toBeWithin(200, 250);
  expect(waits.slice(0, 40)).toEqual(Array.from({ length: 40 }, () => 500));
  expect(new Set(waits.slice(40))).toEqual(new Set([4000]));
  shares.reopen();
  expect(takeAll(shares, ["a"], 0)).toHaveLength(most.tenant);
});
