import type { Claim } from "../../src/server/delivery/claim.ts";
import type { DeliveryEngine } from "../../src/server/delivery/engine.ts";

/** Adds to an engine what tests do with it. */
export function withRuns<Task extends Claim>(engine: DeliveryEngine<Task>) {
  return Object.assign(engine, {
    /** Polls until nothing is being sent and no delivery is left to make. Returns how many attempts were made meanwhile. */
    async runUntilIdle(): Promise<number> {
      const before = engine.attempts;
      for (let isMore = true; isMore; ) {
        isMore = await engine.poll();
        await engine.idle();
      }
      return engine.attempts - before;
    },
  });
}
