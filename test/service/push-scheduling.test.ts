import { describe, expect, test } from "bun:test";
import type { Answer, Attempt } from "../../src/server/delivery/channel.ts";
import { type Permit, Scheduler } from "../../src/server/delivery/scheduler.ts";
import { pushPolicy } from "../../src/server/modules/notifications/sending/delivery.ts";
import { createClock } from "../support/clock.ts";

const { permits, untrusted } = pushPolicy;
const proven = 0;
const unproven = 1;

function open() {
  const clock = createClock();
  return { clock, scheduler: new Scheduler(pushPolicy, clock.now) };
}

/** Permits for all attempts that may start, as if each store had an unlimited number of deliveries due. */
function acquireAll(scheduler: Scheduler, stores: string[], pool: number): Permit[] {
  const acquired: Permit[] = [];
  for (;;) {
    for (const store of stores) scheduler.ask({ key: `${store} ${pool}`, tenantId: store, pool });
    const more = scheduler.acquire();
    if (more.length === 0) return acquired;
    acquired.push(...more);
  }
}

const storesOf = (permits: Permit[]) => permits.map(({ source }) => source.tenantId);

/** How many attempts to a service may run at once. */
function admitAll(scheduler: Scheduler, service: string, pool = proven): number {
  const admitted: Permit[] = [];
  for (;;) {
    const permit: Permit = { source: { key: "a", tenantId: "a", pool }, counted: [], isAdmitted: false };
    if (scheduler.admit(permit, service) > 0) break;
    admitted.push(permit);
  }
  for (const permit of admitted) scheduler.release(permit);
  return admitted.length;
}

const accepted: Answer = { result: "accepted", status: 201, error: null, retryAfterMs: 0 };
const failed: Answer = { result: "failed", status: 503, error: "503", retryAfterMs: 0 };
const silent: Answer = { ...failed, status: null };

function record(
  scheduler: Scheduler,
  answer: Answer,
  { tookMs = 20, ...more }: Partial<Attempt> & { tookMs?: number },
) {
  const attempt = { receiver: "web one", target: "device", timeoutMs: 0, send: async () => answer, ...more };
  return scheduler.circuits.record(attempt, answer, tookMs);
}

test("new registrations cannot use the permits of the others", () => {
  const { scheduler } = open();
  for (const pool of [unproven, proven]) {
    expect(acquireAll(scheduler, ["a", "b"], pool)).toHaveLength(permits.total);
  }
});

test("one store leaves room for others, which share the rest", () => {
  const { scheduler } = open();
  const [first] = acquireAll(scheduler, ["a"], proven) as [Permit];
  const others = storesOf(acquireAll(scheduler, ["a", "b", "c"], proven));
  expect(others.toSorted()).toEqual([..."bbbb", ..."cccc"]);
  scheduler.release(first);
  expect(storesOf(acquireAll(scheduler, ["a", "b", "c"], proven))).toEqual(["b"]);
});

test("a service that accepts messages gets many at once; one that is slow or has accepted nothing yet gets few", () => {
  const { scheduler } = open();
  expect(admitAll(scheduler, "web one")).toBe(untrusted.receiver);
  record(scheduler, { ...accepted, result: "refused" }, {});
  expect(admitAll(scheduler, "web one")).toBe(untrusted.receiver);
  record(scheduler, accepted, {});
  expect(admitAll(scheduler, "web one")).toBe(permits.receiver);
  expect(admitAll(scheduler, "web one", unproven)).toBe(permits.receiver);
  record(scheduler, accepted, { tookMs: 3000 });
  expect(admitAll(scheduler, "web one")).toBe(untrusted.receiver);
  expect(admitAll(scheduler, "web other")).toBe(untrusted.receiver);
});

test("services that have accepted nothing share few permits, in any number; the others have the rest", () => {
  const { scheduler } = open();
  record(scheduler, accepted, { receiver: "web good" });
  const [one, other] = ["a", "b"].map((store) => acquireAll(scheduler, [store], unproven)) as [Permit[], Permit[]];
  const admitted = [one, other].map((permits, store) =>
    permits.filter((permit, n) => scheduler.admit(permit, `web ${store}-${n}`) === 0),
  );
  const rest = untrusted.total - untrusted.tenant;
  expect(admitted.map(({ length }) => length)).toEqual([untrusted.tenant, rest]);
  const waiting = [...one, ...other].filter(({ isAdmitted }) => !isAdmitted);
  expect(waiting.filter((permit) => scheduler.admit(permit, "web good") === 0)).toEqual(waiting);
});

describe("a circuit opens", () => {
  test("not for failures of one device, in any number and with any Retry-After", () => {
    const { scheduler } = open();
    for (let n = 0; n < 20; n++) {
      const answer = { ...(n % 2 === 0 ? silent : failed), retryAfterMs: 3_600_000 };
      expect(record(scheduler, answer, {})).toBeNull();
      expect(scheduler.circuits.waitMs("web one")).toBe(0);
    }
  });

  test("where three different devices in a row failed, until one message is accepted", () => {
    const { scheduler, clock } = open();
    const fail = (target: string) => record(scheduler, failed, { target });
    // An answer in between resets the count.
    expect([fail("1"), fail("2"), record(scheduler, accepted, {}), fail("3"), fail("4")]).toEqual(Array(5).fill(null));
    expect([fail("5"), fail("6")]).toEqual(["opened", null]);
    expect(scheduler.circuits.waitMs("web one")).toBe(5000);
    expect(admitAll(scheduler, "web one")).toBe(0);
    clock.advance(5000);
    expect(admitAll(scheduler, "web one")).toBe(1);
    expect(record(scheduler, accepted, {})).toBe("closed");
    expect(admitAll(scheduler, "web one")).toBe(permits.receiver);
  });

  test("for longer each time, but never for more than a minute, with any Retry-After", () => {
    const { scheduler, clock } = open();
    for (const target of ["1", "2"]) record(scheduler, failed, { target });
    const waits = [5, 10, 20, 40, 60, 60].map(() => {
      record(scheduler, failed, { target: "3" });
      const waitMs = scheduler.circuits.waitMs("web one");
      clock.advance(waitMs);
      return waitMs / 1000;
    });
    expect(waits).toEqual([5, 10, 20, 40, 60, 60]);
    record(scheduler, { ...failed, retryAfterMs: 3_600_000 }, { target: "4" });
    expect(scheduler.circuits.waitMs("web one")).toBe(60_000);
  });

  test("after the first missing answer, where neither the service nor the registration ever accepted a message", () => {
    const { scheduler } = open();
    expect(record(scheduler, silent, { untrustedTimeoutMs: 1 })).toBe("opened");
    record(scheduler, accepted, {});
    expect(record(scheduler, silent, { untrustedTimeoutMs: 1 })).toBeNull();
  });
});

test("a source skips a limited number of deliveries between two polls", () => {
  const { scheduler } = open();
  let skipped = 0;
  for (
    let batch = acquireAll(scheduler, ["a"], proven);
    batch.length > 0;
    batch = acquireAll(scheduler, ["a"], proven)
  ) {
    for (const permit of batch) if (scheduler.admit(permit, "web one") > 0) skipped += 1;
    for (const permit of batch) if (!permit.isAdmitted) scheduler.release(permit);
    if (skipped > 1000) throw new Error("It does not end.");
  }
  expect(skipped).toBeWithin(200, 250);
  scheduler.poll([]);
  expect(acquireAll(scheduler, ["a"], proven)).toHaveLength(permits.tenant - untrusted.receiver);
});
