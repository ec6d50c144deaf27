import { expect, test } from "bun:test";
import { atTurnEnd, isTickOverBudget, partyOf, yieldToEventLoop } from "../../src/server/concurrency/event-loop.ts";

/** Counts the turns of the event loop. */
function countTurns() {
  const turns = { count: 0, stop: () => clearImmediate(next) };
  let next = setImmediate(function count() {
    turns.count++;
    next = setImmediate(count);
  });
  return turns;
}

function work(ms: number) {
  const end = performance.now() + ms;
  while (performance.now() < end);
}

/** Waits for a turn of the event loop whose time is unused and in which nobody waits. */
async function quiet() {
  while (isTickOverBudget()) await Bun.sleep(1);
  await Bun.sleep(1);
}

test("long work of callers that arrive together is spread over turns, and the first one starts at once", async () => {
  await quiet();
  const turns = countTurns();
  const enter = async () => {
    await yieldToEventLoop();
    work(12);
    return turns.count;
  };
  const seen = await Promise.all(Array.from({ length: 5 }, enter));
  turns.stop();
  expect(seen[0]).toBe(0);
  expect(new Set(seen).size).toBe(5);
});

test("short work of several callers shares a turn until the turn's time is used up", async () => {
  await quiet();
  const turns = countTurns();
  const began = performance.now();
  await Promise.all(Array.from({ length: 200 }, () => yieldToEventLoop()));
  turns.stop();
  // The machine may interrupt turns, so one additional idle turn is allowed for every two milliseconds.
  expect(turns.count).toBeLessThan(20 + (performance.now() - began) / 2);
});

test("a request does not wait for all searches of its store", async () => {
  await quiet();
  const order: string[] = [];
  const enter = (url: string) => yieldToEventLoop(partyOf(url)).then(() => order.push(url));
  const list = "http://shop/products/?namespace=acme";
  const searches = ["q=shirt", "facets=tags", "tag=red", "category=mugs", "option[colour]=blue", "include_total=true"];
  const many = Array.from({ length: 5 }, () => searches.map((query) => `${list}&${query}`)).flat();
  await Promise.all([...many, "http://shop/products/shirt/?namespace=acme"].map(enter));
  expect(order.indexOf("http://shop/products/shirt/?namespace=acme")).toBeLessThan(3);
});

test("a client does not wait for all requests of another client, and a store does not wait for all clients of another store", async () => {
  await quiet();
  const order: string[] = [];
  const enter = (party: string, clientIp: string) =>
    yieldToEventLoop(party, { client: { ip: clientIp } }).then(() => order.push(`${party} ${clientIp}`));
  const flood = Array.from({ length: 20 }, () => enter("acme", "2001:db8::1"));
  const many = Array.from({ length: 20 }, (_, index) => enter("acme", `2001:db8:0:1::${index}`));
  const others = [enter("acme", "198.51.100.7"), enter("beta", "198.51.100.8")];
  await Promise.all([...flood, ...many, ...others]);
  expect(order.indexOf("acme 198.51.100.7")).toBeLessThan(8);
  expect(order.indexOf("beta 198.51.100.8")).toBeLessThan(4);
});

test("a health check does not wait for any number of other callers", async () => {
  await quiet();
  const order: string[] = [];
  const enter = async (url: string) => {
    await yieldToEventLoop(partyOf(url));
    work(12);
    order.push(url);
  };
  const stores = Array.from({ length: 20 }, (_, index) => `http://shop/likes/?namespace=store-${index}`);
  await Promise.all([...stores, "https://shop:8443/health/live"].map(enter));
  expect(order.indexOf("https://shop:8443/health/live")).toBeLessThan(4);
});

test("callers that have disconnected take no turn, so that later callers do not wait for them", async () => {
  await quiet();
  const turns = countTurns();
  await yieldToEventLoop();
  work(12);
  await Promise.all(Array.from({ length: 20 }, () => yieldToEventLoop("busy", { signal: AbortSignal.abort() })));
  turns.stop();
  expect(turns.count).toBe(0);
});

test("after a long turn, the event loop has a turn without work, in which TLS handshakes can continue", async () => {
  await quiet();
  const turns = countTurns();
  await yieldToEventLoop();
  work(20);
  await yieldToEventLoop();
  turns.stop();
  expect(turns.count).toBeGreaterThanOrEqual(10);
});

test("a request that arrives while other requests wait also waits", async () => {
  await quiet();
  expect(isTickOverBudget()).toBe(false);
  work(12);
  const late = yieldToEventLoop().then(() => isTickOverBudget());
  while (!isTickOverBudget()) await Promise.resolve();
  // The turn has not ended when the request begins.
  expect(await late).toBe(true);
  await quiet();
  expect(isTickOverBudget()).toBe(false);
});

test("a request that arrives later in a turn does not share the reads of an earlier request", async () => {
  await quiet();
  const turns = countTurns();
  await yieldToEventLoop();
  work(12);
  await yieldToEventLoop();
  const began = turns.count;
  const ended = await new Promise<number>((resolve) => atTurnEnd(() => resolve(turns.count)));
  turns.stop();
  expect(began).toBeGreaterThan(0);
  expect(ended).toBe(began);
});
