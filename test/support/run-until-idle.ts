import type { Claim } from "../../src/server/delivery/claim.ts";
import type { DeliveryEngine } from "../../src/server/delivery/engine.ts";

/** Adds `runUntilIdle` to an engine. */
export function withRuns<Task extends Claim>(engine: DeliveryEngine<Task>) {
  return Object.assign(engine, {
    /** Polls until a poll sends nothing. Returns the number of attempts. */
    async runUntilIdle(): Promise<number> {
      const first = engine.attempts;
      for (let before = -1; before < engine.attempts; ) {
        before = engine.attempts;
        await engine.poll();
        await engine.idle();
      }
      return engine.attempts - first;
    },
  });
}
