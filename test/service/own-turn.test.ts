import { expect, test } from "bun:test";
import { ownTurn } from "../../src/server/values/own-turn.ts";

/** Counts the turns of the event loop. */
function countTurns() {
  const turns = { count: 0, stop: () => clearImmediate(next) };
  let next = setImmediate(function count() {
    turns.count++;
    next = setImmediate(count);
  });
  return turns;
}

test("each caller gets a turn of the event loop of its own, the first one at once", async () => {
  const turns = countTurns();
  const seen = await Promise.all(Array.from({ length: 20 }, () => ownTurn().then(() => turns.count)));
  turns.stop();
  expect(seen[0]).toBe(0);
  expect(new Set(seen).size).toBe(20);
});

test("a party with one caller does not wait for all callers of another", async () => {
  const order: string[] = [];
  const enter = (party: string) => ownTurn(party).then(() => order.push(party));
  await Promise.all([...Array.from({ length: 20 }, () => enter("busy")), enter("calm")]);
  expect(order.indexOf("calm")).toBeLessThan(3);
});

test("callers that are gone take no turn, so that those behind them do not wait", async () => {
  const turns = countTurns();
  const gone = AbortSignal.abort();
  const [, ...rest] = [ownTurn(), ...Array.from({ length: 20 }, () => ownTurn("busy", gone)), ownTurn("busy")];
  await Promise.all(rest);
  turns.stop();
  expect(turns.count).toBeLessThan(3);
});
