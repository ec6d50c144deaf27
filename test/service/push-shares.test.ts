import { expect, test } from "bun:test";
import { priorities } from "../../src/server/modules/notifications/fan-out.ts";
import { createPushShares, most, type Slot } from "../../src/server/modules/notifications/shares.ts";
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
function enterAll(shares: Shares, service: string): number {
  let entered = 0;
  const slot = { tenantId: "a", pool: 0 };
  while (shares.enter(service, slot) === 0) entered += 1;
  for (let i = 0; i < entered; i++) shares.leave(service, slot);
  return entered;
}

test("what comes after has a pool of its own, and cannot take the slots of what comes first", () => {
  const { shares } = open();
  expect(takeAll(shares, ["a", "b"], priorities.unproven)).toHaveLength(most.pool);
  expect(takeAll(shares, ["a", "b"], priorities.message)).toHaveLength(most.pool);
  expect(takeAll(shares, ["a", "b"], priorities.order)).toHaveLength(most.pool);
});

test("one store leaves room for others, who share what there is", () => {
  const { shares } = open();
  expect(takeAll(shares, ["a"], 0)).toHaveLength(most.tenant);
  const others = takeAll(shares, ["a", "b", "c"], 0).map(({ tenantId }) => tenantId);
  expect(others.toSorted()).toEqual([..."bbbb", ..."cccc"]);
  shares.release({ tenantId: "a", pool: 0 });
  expect(takeAll(shares, ["a", "b", "c"], 0).map(({ tenantId }) => tenantId)).toEqual(["b"]);
});

test("of a service that is not known, slow or failing little is in the air; much of one that answers quickly", () => {
  const { shares, clock } = open();
  expect(enterAll(shares, "web one")).toBe(most.unknown);
  shares.noteAnswer("web one", 20);
  expect(enterAll(shares, "web one")).toBe(most.service);
  shares.noteAnswer("web one", 3000);
  expect(enterAll(shares, "web one")).toBe(most.slow);
  shares.noteFailure("web one", 0);
  expect(shares.enter("web one", { tenantId: "a", pool: 0 })).toBe(clock.now() + 5000);
  clock.advance(5000);
  expect(enterAll(shares, "web one")).toBe(1);
  expect(enterAll(shares, "web other")).toBe(most.unknown);
});

test("a service that is down is left alone longer each time, what failed together counts once, and an answer ends it", () => {
  const { shares, clock } = open();
  const waits: number[] = [];
  for (let failures = 0; failures < 8; failures++) {
    expect([shares.noteFailure("web one", 0), shares.noteFailure("web one", 0)]).toEqual([failures === 0, false]);
    const until = shares.enter("web one", { tenantId: "a", pool: 0 });
    waits.push((until - clock.now()) / 1000);
    clock.advance(until - clock.now());
  }
  expect(waits).toEqual([5, 10, 20, 40, 80, 160, 300, 300]);
  shares.noteFailure("web one", 3_600_000);
  expect(shares.enter("web one", { tenantId: "a", pool: 0 })).toBe(clock.now() + 3_600_000);
  expect([shares.noteAnswer("web one", 20), shares.noteAnswer("web one", 20)]).toEqual([true, false]);
  expect(enterAll(shares, "web one")).toBe(most.service);
});

test("a store whose service is full waits for its own, and is looked through for others where nothing moves there", () => {
  const { shares, clock } = open();
  const slots = takeAll(shares, ["a"], 0);
  const entered = slots.filter((slot) => shares.enter("web one", slot) === 0);
  expect(entered).toHaveLength(most.unknown);
  for (const slot of slots.slice(most.unknown)) shares.release(slot);
  // Full and answering: one comes for one that goes.
  expect(takeAll(shares, ["a"], 0)).toHaveLength(0);
  shares.leave("web one", entered[0] as Slot);
  shares.release(entered[0] as Slot);
  const [next] = takeAll(shares, ["a"], 0);
  expect(shares.enter("web one", next as Slot)).toBe(0);
  // Full and silent: whatever else the store has is looked for.
  shares.reopen();
  clock.advance(2000);
  const more = takeAll(shares, ["a"], 0);
  expect(more).toHaveLength(most.tenant - most.unknown);
  for (const slot of more) expect(shares.enter("web one", slot)).toBe(clock.now() + 4000);
  for (const slot of more) shares.release(slot);
  expect(takeAll(shares, ["a"], 0)).toHaveLength(more.length);
});
