import { describe, expect, test } from "bun:test";
import type { Answer, Attempt } from "../../src/server/delivery/channel.ts";
import { type Permit, Scheduler } from "../../src/server/delivery/scheduler.ts";
import { pushPolicy } from "../../src/server/modules/notifications/sending/delivery.ts";
import { webhookPolicy } from "../../src/server/modules/webhooks/delivery.ts";
import { createClock } from "../support/clock.ts";

const accepted: Answer = { result: "accepted", status: 201, error: null, retryAfterMs: 0 };
const failed: Answer = { result: "failed", status: 503, error: "503", retryAfterMs: 0 };
const silent: Answer = { ...failed, status: null };

function open(policy = pushPolicy) {
  const clock = createClock();
  return { clock, scheduler: new Scheduler(policy, clock.now) };
}

function record(
  scheduler: Scheduler,
  answer: Answer,
  { tookMs = 20, ...more }: Partial<Attempt> & { tookMs?: number } = {},
) {
  const attempt = { receiver: "web one", target: "device", timeoutMs: 0, send: async () => answer, ...more };
  return scheduler.circuits.record(attempt, answer, tookMs);
}

describe("where each delivery has its own receiver", () => {
  const { permits, untrusted } = pushPolicy;

  /** Permits for all attempts that may start, as if each store had an unlimited number of deliveries due. */
  function acquireAll(scheduler: Scheduler, ...stores: string[]): Permit[] {
    const acquired: Permit[] = [];
    for (;;) {
      for (const store of stores) scheduler.ask({ key: store, tenantId: store });
      const more = scheduler.acquire();
      if (more.length === 0) return acquired;
      acquired.push(...more);
    }
  }

  /** How many attempts to a service may run at once. */
  function admitAll(scheduler: Scheduler, service: string): number {
    const admitted: Permit[] = [];
    for (;;) {
      const permit: Permit = { source: { key: "a", tenantId: "a" }, counted: [] };
      if (scheduler.admit(permit, service) > 0) break;
      admitted.push(permit);
    }
    for (const permit of admitted) scheduler.release(permit);
    return admitted.length;
  }

  test("one store leaves room for others, and the store that sends least comes first", () => {
    const { scheduler } = open();
    const [first] = acquireAll(scheduler, "a") as [Permit];
    const others = acquireAll(scheduler, "a", "b").map(({ source }) => source.tenantId);
    expect(others).toEqual(Array(permits.total - permits.tenant).fill("b"));
    scheduler.release(first);
    expect(acquireAll(scheduler, "a", "b", "c").map(({ source }) => source.tenantId)).toEqual(["c"]);
  });

  test("a service that accepts messages gets many at once; one that is slow or has accepted nothing yet gets few", () => {
    const { scheduler } = open();
    expect(admitAll(scheduler, "web one")).toBe(untrusted.receiver);
    record(scheduler, { ...accepted, result: "refused" });
    expect(admitAll(scheduler, "web one")).toBe(untrusted.receiver);
    record(scheduler, accepted);
    expect(admitAll(scheduler, "web one")).toBe(permits.receiver);
    record(scheduler, accepted, { tookMs: 3000 });
    expect(admitAll(scheduler, "web one")).toBe(untrusted.receiver);
    expect(admitAll(scheduler, "web other")).toBe(untrusted.receiver);
  });

  test("services that have accepted nothing share few permits, in any number; the others have the rest", () => {
    const { scheduler } = open();
    record(scheduler, accepted, { receiver: "web good" });
    const acquired = acquireAll(scheduler, "a", "b");
    const waiting = acquired.filter((permit, n) => scheduler.admit(permit, `web ${n}`) > 0);
    expect(acquired.length - waiting.length).toBe(untrusted.total);
    expect(waiting.filter((permit) => scheduler.admit(permit, "web good") === 0)).toEqual(waiting);
  });

  describe("a circuit opens", () => {
    test("not for failures of one device, in any number and with any Retry-After", () => {
      const { scheduler } = open();
      for (let n = 0; n < 20; n++) {
        const answer = { ...(n % 2 === 0 ? silent : failed), retryAfterMs: 3_600_000 };
        expect(record(scheduler, answer)).toBeNull();
        expect(scheduler.circuits.waitMs("web one")).toBe(0);
      }
    });

    test("where three different devices in a row failed, until one message is accepted", () => {
      const { scheduler, clock } = open();
      const fail = (target: string) => record(scheduler, failed, { target });
      // An answer in between resets the count.
      expect([fail("1"), fail("2"), record(scheduler, accepted), fail("3"), fail("4")]).toEqual(Array(5).fill(null));
      expect([fail("5"), fail("6")]).toEqual(["opened", null]);
      expect(scheduler.circuits.waitMs("web one")).toBe(5000);
      expect(admitAll(scheduler, "web one")).toBe(0);
      clock.advance(5000);
      expect(admitAll(scheduler, "web one")).toBe(1);
      expect(record(scheduler, accepted)).toBe("closed");
      expect(admitAll(scheduler, "web one")).toBe(permits.receiver);
    });

    test("for longer each time, but never for more than a minute, with any Retry-After and clock", () => {
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
      clock.advance(-86_400_000);
      expect(scheduler.circuits.waitMs("web one")).toBe(0);
    });

    test("after the first missing answer, where neither the service nor the registration ever accepted a message", () => {
      const { scheduler } = open();
      expect(record(scheduler, silent, { untrustedTimeoutMs: 1 })).toBe("opened");
      record(scheduler, accepted);
      expect(record(scheduler, silent, { untrustedTimeoutMs: 1 })).toBeNull();
    });
  });

  test("a source skips a limited number of deliveries between two polls", () => {
    const { scheduler } = open();
    let skipped = 0;
    for (let batch = acquireAll(scheduler, "a"); batch.length > 0; batch = acquireAll(scheduler, "a")) {
      for (const permit of batch) {
        if (scheduler.admit(permit, "web one") === 0) continue;
        skipped += 1;
        scheduler.release(permit);
      }
      if (skipped > 1000) throw new Error("It does not end.");
    }
    expect(skipped).toBeWithin(200, 250);
    scheduler.poll([]);
    expect(acquireAll(scheduler, "a")).toHaveLength(permits.tenant - untrusted.receiver);
  });
});

describe("where a source has one receiver", () => {
  const { permits, untrusted } = webhookPolicy;
  const webhook = (id: string, tenantId = "a") => ({ key: id, tenantId, receiver: id });
  /** The receivers of all attempts that can start now. */
  function acquireAll(scheduler: Scheduler): string[] {
    const ids: string[] = [];
    for (let [permit] = scheduler.acquire(); permit; [permit] = scheduler.acquire()) {
      ids.push(permit.source.key);
      scheduler.ask(permit.source);
    }
    return ids;
  }
  const count = (ids: string[], id: string) => ids.filter((one) => one === id).length;

  test("a quick receiver gets four at once, a slow or new one a single message, one that fails none", () => {
    const { scheduler } = open(webhookPolicy);
    for (const receiver of ["quick", "slow", "failing"]) record(scheduler, accepted, { receiver });
    record(scheduler, accepted, { receiver: "slow", tookMs: 5000 });
    record(scheduler, failed, { receiver: "failing" });
    const ids = ["slow", "failing", "unknown", "quick"];
    for (const id of ids) scheduler.ask(webhook(id));
    const acquired = acquireAll(scheduler);
    expect(ids.map((id) => count(acquired, id))).toEqual([1, 0, 1, permits.receiver]);
  });

  test("quick receivers are served among any number of others, and stores share equally", () => {
    const { scheduler } = open(webhookPolicy);
    for (let i = 0; i < 200; i++) scheduler.ask(webhook(`dead${i}`, `many${i % 10}`));
    expect(acquireAll(scheduler)).toHaveLength(untrusted.total);
    for (let i = 0; i < 20; i++) {
      record(scheduler, accepted, { receiver: `big${i}` });
      scheduler.ask(webhook(`big${i}`, "big"));
    }
    expect(acquireAll(scheduler)).toHaveLength(permits.tenant);
    record(scheduler, accepted, { receiver: "small" });
    scheduler.ask(webhook("small", "small"));
    expect(acquireAll(scheduler)).toEqual(Array(permits.receiver).fill("small"));
  });
});
