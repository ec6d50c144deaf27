import { describe, expect, test } from "bun:test";
import { type Permit, Scheduler } from "../../src/server/delivery/scheduler.ts";
import { pushPolicy } from "../../src/server/modules/notifications/sending/delivery.ts";
import { priorities } from "../../src/server/modules/notifications/sending/queue.ts";
import { createClock } from "../support/clock.ts";

const { permits, untrusted } = pushPolicy;

function open() {
  const clock = createClock();
  return { clock, scheduler: new Scheduler(pushPolicy, clock.now) };
}

const permitOf = (tenantId: string, pool: number): Permit => ({ source: { key: tenantId, tenantId, pool } });

/** Acquires all permits, as if each store had an unlimited number of deliveries due. */
function acquireAll(scheduler: Scheduler, stores: string[], pool: number): Permit[] {
  const permits: Permit[] = [];
  for (;;) {
    for (const store of stores) scheduler.ask({ key: store, tenantId: store, pool });
    const acquired = scheduler.acquire();
    if (acquired.length === 0) return permits;
    permits.push(...acquired);
  }
}

const storesOf = (permits: Permit[]) => permits.map(({ source }) => source.tenantId);

/** How many attempts to a service may run at once. */
function admitAll(scheduler: Scheduler, service: string, pool: number = priorities.order): number {
  const admitted: Permit[] = [];
  for (;;) {
    const permit = permitOf("a", pool);
    if (scheduler.admit(permit, service) > 0) break;
    admitted.push(permit);
  }
  for (const permit of admitted) scheduler.release(permit);
  return admitted.length;
}

/** The seconds until a service may be sent to again; 0 if it may now. */
function waitOf(
  { scheduler, clock }: ReturnType<typeof open>,
  service: string,
  pool: number = priorities.order,
): number {
  const permit = permitOf("a", pool);
  const until = scheduler.admit(permit, service);
  if (until === 0) scheduler.release(permit);
  return Math.max(until - clock.now(), 0) / 1000;
}

const accepted = { tookMs: 20, isAccepted: true };
const fail = (
  scheduler: Scheduler,
  target: string,
  more: { isSilent?: boolean; retryAfterMs?: number; pool?: number } = {},
) => {
  const { pool = priorities.order, isSilent = false, retryAfterMs = 0 } = more;
  return scheduler.circuits.noteFailure("web one", pool, { target, isSilent, retryAfterMs });
};

test("each of the four priorities has its own pool, so that a lower one cannot use the batch of a higher one", () => {
  const { scheduler } = open();
  for (const pool of Object.values(priorities).toReversed()) {
    expect(acquireAll(scheduler, ["a", "b"], pool)).toHaveLength(permits.total);
  }
});

test("one store leaves room for others, which share the rest", () => {
  const { scheduler } = open();
  expect(acquireAll(scheduler, ["a"], 0)).toHaveLength(permits.tenant);
  const others = storesOf(acquireAll(scheduler, ["a", "b", "c"], 0));
  expect(others.toSorted()).toEqual([..."bbbb", ..."cccc"]);
  scheduler.release(permitOf("a", 0));
  expect(storesOf(acquireAll(scheduler, ["a", "b", "c"], 0))).toEqual(["b"]);
});

test("a service that accepts messages gets many at once; one that is slow or has accepted nothing yet gets few", () => {
  const { scheduler } = open();
  expect(admitAll(scheduler, "web one")).toBe(untrusted.receiver);
  scheduler.circuits.noteAnswer("web one", { tookMs: 20, isAccepted: false });
  expect(admitAll(scheduler, "web one")).toBe(untrusted.receiver);
  scheduler.circuits.noteAnswer("web one", accepted);
  expect(admitAll(scheduler, "web one")).toBe(permits.receiver);
  expect(admitAll(scheduler, "web one", priorities.newMessage)).toBe(permits.receiver);
  scheduler.circuits.noteAnswer("web one", { tookMs: 3000, isAccepted: true });
  expect(admitAll(scheduler, "web one")).toBe(untrusted.receiver);
  expect(admitAll(scheduler, "web other")).toBe(untrusted.receiver);
});

test("services that have accepted nothing share few permits, in any number; the others have the rest", () => {
  const { scheduler } = open();
  scheduler.circuits.noteAnswer("web good", accepted);
  const admitHosts = (tenantId: string) => {
    let admitted = 0;
    for (let host = 0; host < 100; host++) {
      if (scheduler.admit(permitOf(tenantId, priorities.newMessage), `web host-${tenantId}-${host}`) === 0)
        admitted += 1;
    }
    return admitted;
  };
  expect([admitHosts("a"), admitHosts("b"), admitHosts("c")]).toEqual([
    untrusted.tenant,
    untrusted.total - untrusted.tenant,
    0,
  ]);
  expect(admitAll(scheduler, "web good", priorities.newMessage)).toBe(permits.receiver);
  expect(admitAll(scheduler, "web unknown", priorities.newOrder)).toBe(untrusted.receiver);
});

describe("a circuit opens", () => {
  test("not for failures of one device, in any number and with any Retry-After", () => {
    const opened = open();
    opened.scheduler.circuits.noteAnswer("web one", accepted);
    for (let n = 0; n < 20; n++) {
      expect(fail(opened.scheduler, "one", { retryAfterMs: 3_600_000, isSilent: n % 2 === 0 })).toBe(false);
      expect(waitOf(opened, "web one")).toBe(0);
    }
    opened.scheduler.circuits.noteAnswer("web one", accepted);
    expect(admitAll(opened.scheduler, "web one")).toBe(permits.receiver);
  });

  test.each([
    ["five different devices in a row failed", false, 5],
    ["three different devices in a row got no answer", true, 3],
  ])("where %s", (_, isSilent, devices) => {
    const opened = open();
    const { scheduler, clock } = opened;
    scheduler.circuits.noteAnswer("web one", accepted);
    // An answer in between resets the count.
    for (let n = 1; n < devices; n++) expect(fail(scheduler, `${n}`, { isSilent })).toBe(false);
    scheduler.circuits.noteAnswer("web one", accepted);
    for (let n = 1; n < devices; n++) expect(fail(scheduler, `${n}`, { isSilent })).toBe(false);
    expect(waitOf(opened, "web one")).toBe(0);
    expect([fail(scheduler, "last", { isSilent }), fail(scheduler, "more", { isSilent })]).toEqual([true, false]);
    expect(waitOf(opened, "web one")).toBe(5);
    clock.advance(5000);
    expect(admitAll(scheduler, "web one")).toBe(1);
    expect(scheduler.circuits.noteAnswer("web one", accepted)).toBe(true);
    expect(admitAll(scheduler, "web one")).toBe(permits.receiver);
  });

  test("for longer each time, but never for more than a minute, with any Retry-After", () => {
    const opened = open();
    for (let n = 0; n < 4; n++) fail(opened.scheduler, `${n}`);
    const waits: number[] = [];
    for (let n = 0; n < 6; n++) {
      fail(opened.scheduler, "last");
      waits.push(waitOf(opened, "web one"));
      opened.clock.advance((waits.at(-1) as number) * 1000);
    }
    expect(waits).toEqual([5, 10, 20, 40, 60, 60]);
    fail(opened.scheduler, "last", { retryAfterMs: 3_600_000 });
    expect(waitOf(opened, "web one")).toBe(60);
  });

  test("in the last pool only, when registrations fail that never received a message", () => {
    const opened = open();
    opened.scheduler.circuits.noteAnswer("web one", accepted);
    for (let n = 0; n < 9; n++) fail(opened.scheduler, `${n}`, { pool: priorities.newMessage });
    expect(waitOf(opened, "web one", priorities.newMessage)).toBe(5);
    expect(waitOf(opened, "web one", priorities.newOrder)).toBe(0);
    expect(waitOf(opened, "web one", priorities.message)).toBe(0);
  });

  test("after the first missing answer, where neither the service nor the registration ever accepted a message", () => {
    const opened = open();
    expect(fail(opened.scheduler, "one", { pool: priorities.newMessage, isSilent: true })).toBe(true);
    expect(waitOf(opened, "web one", priorities.newMessage)).toBe(5);
    expect(waitOf(opened, "web one", priorities.order)).toBe(0);
  });
});

test("a store waits for a full service that answers, and its other deliveries are found if it does not answer", () => {
  const { scheduler, clock } = open();
  scheduler.circuits.noteAnswer("web one", accepted);
  const full = Array.from({ length: permits.receiver }, () => permitOf("b", 0));
  for (const permit of full) expect(scheduler.admit(permit, "web one")).toBe(0);
  const [permit, ...rest] = acquireAll(scheduler, ["a"], 0) as [Permit];
  for (const one of rest) scheduler.release(one);
  // Full and answering: its next message goes when an attempt ends.
  expect(scheduler.admit(permit, "web one")).toBe(clock.now());
  expect(acquireAll(scheduler, ["a"], 0)).toHaveLength(0);
  // Full and silent: up to 200 deliveries are skipped to find others; most of them are retried later.
  scheduler.reopen();
  clock.advance(2000);
  const waits: number[] = [];
  scheduler.release(permit);
  for (let batch = acquireAll(scheduler, ["a"], 0); batch.length > 0; batch = acquireAll(scheduler, ["a"], 0)) {
    for (const one of batch) waits.push(scheduler.admit(one, "web one") - clock.now());
    for (const one of batch) scheduler.release(one);
    if (waits.length > 1000) throw new Error("It does not end.");
  }
  expect(waits.length).toBeWithin(200, 250);
  expect(waits.slice(0, 40)).toEqual(Array.from({ length: 40 }, () => 500));
  expect(new Set(waits.slice(40))).toEqual(new Set([4000]));
  scheduler.reopen();
  expect(acquireAll(scheduler, ["a"], 0)).toHaveLength(permits.tenant);
});
