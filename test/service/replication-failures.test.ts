import { afterEach, expect, setSystemTime, test } from "bun:test";
import { unavailable } from "../../src/server/errors.ts";
import { trackFailures } from "../../src/server/replication/place-health.ts";

const minute = 60_000;
afterEach(() => void setSystemTime());

test("repeated failures of a replica's place are logged once, then every hour, and again after the place has worked for a minute", () => {
  const log: string[] = [];
  const failures = trackFailures((level, message) => log.push(`${level} ${message}`), "it fails", "it works");
  let now = Date.parse("2026-11-26T12:00:00Z");
  const flap = (minutes: number) => {
    for (const end = now + minutes * minute; now < end; now += minute / 6) {
      setSystemTime(now);
      if (Math.round(now / 10_000) % 2 === 0) failures.begin(unavailable("No answer.", { remedy: "Check it." }));
      else failures.end();
    }
    return log.splice(0);
  };
  const failed = "error it fails: No answer. Check it.";
  expect(flap(59)).toEqual([failed]);
  expect(flap(60)).toEqual([failed]);
  setSystemTime(now + 2 * minute);
  failures.end();
  expect(log.splice(0)).toEqual(["info it works"]);
  expect(failures.last()).toBeNull();
  failures.begin(unavailable("No answer.", { remedy: "Check it." }));
  expect(log).toEqual([failed]);
});
