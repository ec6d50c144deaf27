import { randomInt } from "node:crypto";

/**
 * The range of ports. Systems assign ports above this range, so a found port is free until the program under test opens
 * it.
 */
const [lowest, highest] = [20_000, 30_000];

/** Returns a port on which nothing listens. */
export function findPort(): number {
  for (let tries = 0; tries < 100; tries++) {
    const port = randomInt(lowest, highest);
    try {
      void Bun.serve({ hostname: "127.0.0.1", port, fetch: () => new Response() }).stop(true);
      return port;
    } catch {}
  }
  throw new Error(`Found no free port from ${lowest} to ${highest}.`);
}
