import { describe, expect, test } from "bun:test";
import { describeSecrets } from "../../src/server/modules/app-keys/model.ts";

const now = Date.UTC(2030, 0, 15, 12);
const at = (minutesAgo: number | null) =>
  minutesAgo === null ? null : new Date(now - minutesAgo * 60_000).toISOString();
const day = 24 * 60;

describe("an old secret can be retired once the new one is used and the old one is not", () => {
  test.each([
    ["neither was used", { made: 60, newUsed: null, oldUsed: null }, false],
    ["only the old one is used", { made: 60, newUsed: null, oldUsed: 5 }, false],
    ["both are used", { made: 60, newUsed: 1, oldUsed: 5 }, false],
    ["the old one was never used", { made: 60, newUsed: 1, oldUsed: null }, true],
    ["the old one was last used before the new one was made", { made: 60, newUsed: 1, oldUsed: 61 }, true],
    ["the old one was used since, a day ago", { made: 3 * day, newUsed: 1, oldUsed: day + 1 }, true],
    ["a use of the last minute would not be noted yet", { made: 1, newUsed: 0, oldUsed: 2 }, false],
  ])("%s", (_name, { made, newUsed, oldUsed }, expected) => {
    const judged = describeSecrets(
      [
        { created_at: at(made) as string, expires_at: null, last_used_at: at(newUsed) },
        { created_at: at(10 * day) as string, expires_at: at(-60), last_used_at: at(oldUsed) },
      ],
      now,
    );
    expect(judged.map(({ may_go }) => may_go)).toEqual([null, expected]);
  });

  test("an expired secret can be retired, used or not", () => {
    const secrets = [
      { created_at: at(60) as string, expires_at: null, last_used_at: null },
      { created_at: at(120) as string, expires_at: at(1), last_used_at: at(2) },
    ];
    expect(describeSecrets(secrets, now)[1]?.may_go).toBe(true);
  });
});
