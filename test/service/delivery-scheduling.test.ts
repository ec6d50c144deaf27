import { describe, expect, test } from "bun:test";
import type { Answer, Attempt, Source } from "../../src/server/delivery/channel.ts";
import { Scheduler } from "../../src/server/delivery/scheduler.ts";
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
  return scheduler.record(attempt, answer, tookMs);
}

/** The sources of all attempts that may start, as if each source had an unlimited number of deliveries due. */
function startAll(scheduler: Scheduler, sources: Source[], receiverOf = ({ receiver = "" }: Source) => receiver) {
  const started: { source: Source; end: () => void }[] = [];
  scheduler.ask(...sources);
  for (let next = scheduler.next(); next; next = scheduler.next()) {
    const { source, max } = next;
    let skipped = 0;
    for (let n = 0; n < max; n++) {
      const receiver = receiverOf(source);
      if (scheduler.waitMs(source, receiver) > 0) skipped++;
      else started.push({ source, end: scheduler.start(source, receiver) });
    }
    if (skipped === 0) scheduler.ask(source);
  }
  return started;
}

describe("where each delivery has its own receiver", () => {
  const { permits, untrusted } = pushPolicy;
  const store = (id: string): Source => ({ key: id, tenantId: id });

  /** How many attempts to a service may run at once. */
  function countAll(scheduler: Scheduler, service: string): number {
    const started = startAll(scheduler, [..."ab"].map(store), () => service);
    for (const { end } of started) end();
    return started.length;
  }

  test("one store leaves room for others, and the store that sends least comes first", () => {
    const { scheduler } = open();
    record(scheduler, accepted);
    const start = (ids: string) => startAll(scheduler, [...ids].map(store), () => "web one");
    const [first, ...others] = start("a");
    expect(others).toHaveLength(permits.tenant - 1);
    expect(start("ab").map(({ source }) => source.key)).toEqual(Array(permits.total - permits.tenant).fill("b"));
    first?.end();
    expect(start("abc").map(({ source }) => source.key)).toEqual(["c"]);
  });

  test("a service that accepts messages gets many at once; one that is slow or has accepted nothing yet gets few", () => {
    const { scheduler } = open();
    expect(countAll(scheduler, "web one")).toBe(untrusted.receiver);
    record(scheduler, { ...accepted, result: "refused" });
    expect(countAll(scheduler, "web one")).toBe(untrusted.receiver);
    record(scheduler, accepted);
    expect(countAll(scheduler, "web one")).toBe(permits.receiver);
    record(scheduler, accepted, { tookMs: 3000 });
    expect(countAll(scheduler, "web one")).toBe(untrusted.receiver);
    expect(countAll(scheduler, "web other")).toBe(untrusted.receiver);
  });

  test("services that have accepted nothing share few permits, in any number; the others have the rest", () => {
    const { scheduler } = open();
    record(scheduler, accepted, { receiver: "web good" });
    let hosts = 0;
    expect(startAll(scheduler, [store("a"), store("b")], () => `web ${hosts++}`)).toHaveLength(untrusted.total);
    const rest = permits.total - untrusted.total;
    expect(startAll(scheduler, [store("a"), store("b")], () => "web good")).toHaveLength(rest);
  });

  describe("a circuit opens", () => {
    test("not for failures of one device, in any number and with any Retry-After", () => {
      const { scheduler } = open();
      for (let n = 0; n < 20; n++) {
        const answer = { ...(n % 2 === 0 ? silent : failed), retryAfterMs: 3_600_000 };
        expect(record(scheduler, answer)).toBeNull();
        expect(scheduler.openMs("web one")).toBe(0);
      }
    });

    test("where three different devices in a row failed, until one message is accepted", () => {
      const { scheduler, clock } = open();
      const fail = (target: string) => record(scheduler, failed, { target });
      // An answer in between resets the count.
      expect([fail("1"), fail("2"), record(scheduler, accepted), fail("3"), fail("4")]).toEqual(Array(5).fill(null));
      expect([fail("5"), fail("6")]).toEqual(["opened", null]);
      expect(scheduler.openMs("web one")).toBe(5000);
      expect(countAll(scheduler, "web one")).toBe(0);
      clock.advance(5000);
      expect(countAll(scheduler, "web one")).toBe(1);
      expect(record(scheduler, accepted)).toBe("closed");
      expect(countAll(scheduler, "web one")).toBe(permits.receiver);
    });

    test("for longer each time, but never for more than a minute, with any Retry-After and clock", () => {
      const { scheduler, clock } = open();
      for (const target of ["1", "2"]) record(scheduler, failed, { target });
      const waits = [5, 10, 20, 40, 60, 60].map(() => {
        record(scheduler, failed, { target: "3" });
        const waitMs = scheduler.openMs("web one");
        clock.advance(waitMs);
        return waitMs / 1000;
      });
      expect(waits).toEqual([5, 10, 20, 40, 60, 60]);
      record(scheduler, { ...failed, retryAfterMs: 3_600_000 }, { target: "4" });
      expect(scheduler.openMs("web one")).toBe(60_000);
      clock.advance(-86_400_000);
      expect(scheduler.openMs("web one")).toBe(0);
    });

    test("after the first missing answer, where neither the service nor the registration ever accepted a message", () => {
      const { scheduler } = open();
      expect(record(scheduler, silent, { untrustedTimeoutMs: 1 })).toBe("opened");
      record(scheduler, accepted);
      expect(record(scheduler, silent, { untrustedTimeoutMs: 1 })).toBeNull();
    });
  });
});

describe("where a source has one receiver", () => {
  const { permits, untrusted } = webhookPolicy;
  const webhook = (id: string, tenantId = "a"): Source => ({ key: id, tenantId, receiver: id });
  const many = (count: number, name: string, tenantOf = (_: number) => name) =>
    Array.from({ length: count }, (_, n) => webhook(`${name}${n}`, tenantOf(n)));

  test("a quick receiver gets four at once, a slow or new one a single message, one that fails none", () => {
    const { scheduler } = open(webhookPolicy);
    for (const receiver of ["quick", "slow", "failing"]) record(scheduler, accepted, { receiver });
    record(scheduler, accepted, { receiver: "slow", tookMs: 5000 });
    record(scheduler, failed, { receiver: "failing" });
    const ids = ["slow", "failing", "unknown", "quick"];
    const started = startAll(
      scheduler,
      ids.map((id) => webhook(id)),
    ).map(({ source }) => source.key);
    expect(ids.map((id) => started.filter((one) => one === id).length)).toEqual([1, 0, 1, permits.receiver]);
  });

  test("quick receivers are served among any number of others, and stores share equally", () => {
    const { scheduler } = open(webhookPolicy);
    expect(
      startAll(
        scheduler,
        many(200, "dead", (n) => `many${n % 10}`),
      ),
    ).toHaveLength(untrusted.total);
    const big = many(20, "big");
    for (const { key } of big) record(scheduler, accepted, { receiver: key });
    expect(startAll(scheduler, big)).toHaveLength(permits.tenant);
    record(scheduler, accepted, { receiver: "small" });
    expect(startAll(scheduler, [webhook("small", "small")])).toHaveLength(permits.receiver);
  });
});
