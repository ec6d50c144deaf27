import { describe, expect, test } from "bun:test";
import type { Answer, Attempt, Source } from "../../src/server/delivery/channel.ts";
import { readRetryAfter } from "../../src/server/delivery/outbound.ts";
import { Scheduler } from "../../src/server/delivery/scheduler.ts";
import { pushPolicy } from "../../src/server/modules/notifications/sending/delivery.ts";
import { createClock } from "../support/clock.ts";

const accepted: Answer = { result: "accepted", status: 201, error: null, retryAfterMs: 0 };
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

/** Returns the sources of all attempts that may start, if each source has an unlimited number of due deliveries. */
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

describe("deliveries that each have their own receiver", () => {
  const { permits } = pushPolicy;
  const store = (id: string): Source => ({ key: id, tenantId: id });

  test("one store cannot use all permits, and the store with the fewest running deliveries comes first", () => {
    const { scheduler } = open();
    record(scheduler, accepted);
    const start = (ids: string) => startAll(scheduler, [...ids].map(store), () => "web one");
    const [first, ...others] = start("a");
    expect(others).toHaveLength(permits.tenant - 1);
    expect(start("ab").map(({ source }) => source.key)).toEqual(Array(permits.total - permits.tenant).fill("b"));
    first?.end();
    expect(start("abc").map(({ source }) => source.key)).toEqual(["c"]);
  });
});

test("after a 429 or 503, Retry-After may be seconds or a date, and the wait is at most an hour", () => {
  const now = Date.UTC(2030, 0, 15, 12);
  for (const [status, retryAfter, seconds] of [
    [429, "120", 120],
    [503, "120", 120],
    [503, new Date(now + 90_000).toUTCString(), 90],
    [429, "99999999999999999999", 3600],
    [503, "0", 0],
    [429, "soon", 0],
    [429, undefined, 0],
    [500, "120", 0],
  ] as const) {
    expect([retryAfter, readRetryAfter({ status, retryAfter }, now)]).toEqual([retryAfter, seconds * 1000]);
  }
});

test("the large push services are trusted from the start, and hosts with similar names are not", () => {
  const trusted = (hosts: string) => hosts.split(" ").filter((host) => pushPolicy.isWellKnown?.(host));
  const known = "fcm.googleapis.com updates.push.services.mozilla.com web.push.apple.com wns2-by3p.notify.windows.com";
  expect(trusted(known)).toEqual(known.split(" "));
  expect(trusted("x.fcm.googleapis.com notify.windows.com.example evilnotify.windows.com push.example.com")).toEqual(
    [],
  );
});
