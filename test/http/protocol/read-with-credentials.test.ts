import { expect, test } from "bun:test";
import { readWithCredentials } from "../../../src/server/api/read-with-credentials.ts";
import type { CredentialLookup, ResolvedCredentials } from "../../../src/server/modules/app-keys/lookup.ts";

const known = (stored: string): ResolvedCredentials => ({ tenant: null, key: null, stored });

/** Answers with the credentials it got, and counts the reads and the answers. */
async function readOnce(read: () => Promise<ResolvedCredentials>) {
  const counts = { reads: 0, answers: 0 };
  const find = () => {
    counts.reads++;
    return read();
  };
  const lookup: CredentialLookup = { find, cached: () => known("cached") };
  const answered = await readWithCredentials(lookup, async (find) => {
    counts.answers++;
    const { stored } = await Promise.resolve(find("demo", undefined)).catch(() => known("refused"));
    return stored;
  });
  return { answered, ...counts };
}

test("a read is answered anew when its credentials have changed, or cannot be read, which is tried once", async () => {
  expect(await readOnce(async () => known("cached"))).toEqual({ answered: "cached", reads: 1, answers: 1 });
  expect(await readOnce(async () => known("new"))).toEqual({ answered: "new", reads: 1, answers: 2 });
  const failing = () => Promise.reject(new Error("no answer"));
  expect(await readOnce(failing)).toEqual({ answered: "refused", reads: 1, answers: 2 });
});
