import { expect, test } from "bun:test";
import { KeptTail } from "../../src/server/api/kept-tail.ts";
import { type KeptReply, ReplyCache } from "../../src/server/api/reply-cache.ts";

function replyOf(length: number): KeptReply {
  const tail = new KeptTail("x".repeat(length));
  return {
    tail,
    language: undefined,
    state: "",
    version: undefined,
    minute: 0,
    etag: "",
    commits: 1,
    hasLatestCounts: true,
  };
}

/** Returns which of the first `count` replies of a store are cached. This does not count as a use of these replies. */
function kept(cache: ReplyCache, tenantId: string, count: number): number {
  return Array.from({ length: count }, (_, n) => cache.find(tenantId, `${n}`)).filter(Boolean).length;
}

test("a reply is cached at its second request, or never if the cache has no memory", () => {
  const cache = new ReplyCache(1_000_000);
  expect([cache.wants("a"), cache.wants("b"), cache.wants("a"), cache.wants("a")]).toEqual([false, false, true, true]);
  const off = new ReplyCache(0);
  expect([off.wants("a"), off.wants("a")]).toEqual([false, false]);
});

test("a full cache first removes the least recently used reply", () => {
  const cache = new ReplyCache(100_000);
  for (let n = 0; n < 3; n++) cache.keep("t", `${n}`, replyOf(20_000));
  cache.find("t", "0");
  cache.keep("t", "3", replyOf(20_000));
  expect(["0", "1", "2", "3"].map((name) => cache.find("t", name) !== undefined)).toEqual([true, false, true, true]);
});

test("the replies of a store displace only replies of this store", () => {
  const cache = new ReplyCache(1_000_000);
  for (let n = 0; n < 10; n++) cache.keep("small", `${n}`, replyOf(10_000));
  for (let n = 0; n < 500; n++) cache.keep("large", `${n}`, replyOf(10_000));
  expect(kept(cache, "small", 10)).toBe(10);
  expect(kept(cache, "large", 500)).toBeWithin(40, 60);
});

test("a reply that is cached again uses memory only once, and a reply larger than the cache is not cached", () => {
  const cache = new ReplyCache(100_000);
  for (let n = 0; n < 100; n++) cache.keep("t", "0", replyOf(20_000));
  cache.keep("t", "1", replyOf(20_000));
  expect(kept(cache, "t", 2)).toBe(2);
  cache.keep("other", "0", replyOf(200_000));
  expect([kept(cache, "other", 1), kept(cache, "t", 2)]).toEqual([0, 2]);
});
