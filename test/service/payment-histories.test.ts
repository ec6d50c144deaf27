import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { Stripe } from "stripe";
import { canTest, openTestDatabase, type TestDatabase } from "../support/backend.ts";
import { createClock } from "../support/clock.ts";
import { openStage, runHistory, type Stage } from "../support/payment-history.ts";
import { uniform } from "../support/random.ts";

// The library waits between attempts, and histories contain many attempts.
Object.assign(Stripe.prototype, { getInitialNetworkRetryDelay: () => 0 });

/** `BODEGA_TEST_HISTORIES=2000,200,7`: histories on a file, histories on a libSQL server, and the first seed. */
const [onFile = 26, onServer = 2, given] = (process.env.BODEGA_TEST_HISTORIES ?? "")
  .split(",")
  .filter(Boolean)
  .map(Number);
const firstSeed = given ?? Math.floor(Math.random() * 1_000_000);

for (const [kind, processes, count] of [
  ["file", 1, Math.ceil(onFile * 0.75)],
  ["file", 2, Math.floor(onFile * 0.25)],
  ["server", 2, onServer],
] as const) {
  describe.skipIf(!canTest(kind))(`on ${kind} with ${processes} processes`, () => {
    let database: TestDatabase;
    let stage: Stage;
    beforeAll(async () => {
      database = await openTestDatabase(kind);
      stage = await openStage(database, createClock(), processes);
    }, 30_000);
    afterAll(async () => {
      await stage.close();
      await database.close();
    });

    test("payments, refunds and disputes equal those at Stripe, even if calls are lost, repeated, delayed or killed", async () => {
      for (let index = 0; index < count; index++) {
        const seed = firstSeed + index;
        const numbers = uniform(seed);
        const random = () => numbers.next().value;
        const steps = 15 + Math.floor(random() * 30);
        await runHistory(stage, random, steps).catch((error: Error) => {
          throw new Error(`seed ${seed}: ${error.message}`);
        });
      }
      expect(firstSeed).toBeNumber();
      console.log(`${count} histories from seed ${firstSeed} on ${kind} with ${processes} processes`);
    }, 3_600_000);
  });
}
