import { expect } from "bun:test";
import { revokeKey } from "../../../src/server/modules/app-keys/service.ts";
import { recordEvent } from "../../../src/server/modules/events/service.ts";
import { bearer, type Shop, tenantContext } from "../../support/factories.ts";
import { onDatabase } from "../../support/suite.ts";
import { until } from "../../support/until.ts";

const accept = { Accept: "text/event-stream" };

interface Stream {
  response: Response;
  /** The events so far. */
  events: { id: string; type: string; subject: string }[];
  /** The last id that was sent, with or without an event. */
  lastId: () => string | undefined;
  ended: Promise<void>;
  close: () => void;
}

/** Opens the stream of a store and reads it until it ends. */
async function open(shop: Shop, query = "", headers: Record<string, string> = {}): Promise<Stream> {
  const end = new AbortController();
  const url = `${shop.app.url}/events/?namespace=${shop.namespace}${query}`;
  const response = await fetch(url, {
    headers: { Authorization: shop.auth, ...accept, ...headers },
    signal: end.signal,
  });
  expect([response.status, response.headers.get("content-type")]).toEqual([200, "text/event-stream"]);
  let text = "";
  const read = async () => {
    const decoder = new TextDecoder();
    for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>) {
      text += decoder.decode(chunk, { stream: true });
    }
  };
  return {
    response,
    get events() {
      return [...text.matchAll(/^data: (.+)\n\n/gm)].map(([, json]) => JSON.parse(json as string));
    },
    lastId: () => [...text.matchAll(/^id: (.+)\n/gm)].at(-1)?.[1],
    ended: read().catch(() => {}),
    close: () => end.abort(),
  };
}

async function record(shop: Shop, subject: string, type = "order.paid" as const): Promise<void> {
  await recordEvent(await tenantContext(shop), { type, subject, data: {} });
}

const subjects = ({ events }: Stream) => events.map(({ subject }) => subject);
const has = (stream: Stream, count: number) => until("events", () => stream.events.length >= count);

onDatabase("file", (suite) => {
  const { test } = suite;
  test("a stream contains the new events of its store, with their ids", async (shop) => {
    const other = await suite.shop();
    await record(shop, "before");
    const stream = await open(shop, "&types=order.*");
    await record(other, "theirs");
    await shop.createProduct();
    await record(shop, "one");
    await record(shop, "two");
    await has(stream, 2);
    expect(subjects(stream)).toEqual(["one", "two"]);
    expect(stream.lastId()).toBe(stream.events[1]?.id as string);
    expect(stream.response.headers.get("x-request-id")).toMatch(/^[\w-]{8,}$/);
    stream.close();
    const { data } = await shop.call<Stream["events"]>("GET /events/", { query: { types: "order.*" } });
    expect(data.slice(1)).toEqual(stream.events);
  });

  test("with Last-Event-ID, a stream continues after this event, and misses and repeats nothing", async (shop) => {
    const first = await open(shop);
    await until("the first id", first.lastId);
    first.close();
    for (let at = 0; at < 120; at++) await record(shop, String(at));
    const second = await open(shop, "", { "Last-Event-ID": first.lastId() as string });
    await has(second, 120);
    second.close();
    expect(subjects(second)).toEqual(Array.from({ length: 120 }, (_, at) => String(at)));
    const third = await open(shop, "&after=0", { "Last-Event-ID": second.events[117]?.id as string });
    await has(third, 2);
    third.close();
    expect(subjects(third)).toEqual(["118", "119"]);
  });

  test("with since, the feed and a stream begin at the first event from that time on", async (shop) => {
    await record(shop, "old");
    shop.app.clock.advance(3_600_000);
    const since = new Date(shop.app.clock.now()).toISOString();
    await record(shop, "new");
    const feed = await shop.call<Stream["events"]>("GET /events/", { query: { since } });
    expect(feed.data.map(({ subject }) => subject)).toEqual(["new"]);
    const stream = await open(shop, `&since=${since}`);
    await has(stream, 1);
    stream.close();
    expect(subjects(stream)).toEqual(["new"]);
    expect((await shop.call("GET /events/", { query: { since: "yesterday" } })).code).toBe(5102);
  });

  test("errors of a stream are JSON; without the Accept header of a stream, the feed is JSON, too", async (shop) => {
    const get = async (query: string, headers: Record<string, string>) => {
      const url = `${shop.app.url}/events/?namespace=${shop.namespace}${query}`;
      const response = await fetch(url, { headers });
      expect(response.headers.get("content-type")).toBe("application/json; charset=utf-8");
      return ((await response.json()) as { error?: { code: number } }).error?.code;
    };
    const allowed = { Authorization: shop.auth };
    expect(await get("", accept)).toBe(5206);
    expect(await get("", { ...accept, Authorization: `${shop.auth}x` })).toBe(5203);
    expect(await get("&types=lamp.lit", { ...accept, ...allowed })).toBe(5102);
    expect(await get("", { ...accept, ...allowed, "Last-Event-ID": "evt_none" })).toBe(5100);
    expect(await get("", { ...allowed, Accept: "application/json" })).toBeUndefined();
    const products = await shop.issueKey({ scopes: ["products:read"] });
    expect(await get("", { ...accept, Authorization: bearer(products) })).toBe(5300);
  });

  test("a stream ends without another event when its key is revoked", async (shop) => {
    const key = await shop.issueKey();
    const stream = await open({ ...shop, auth: bearer(key) });
    await revokeKey(shop.app.system, key.app_id);
    await record(shop, "secret");
    await stream.ended;
    expect(stream.events).toEqual([]);
  });

  test("a store has at most twenty open streams; after one is closed, another can be opened", async (shop) => {
    const streams = await Promise.all(Array.from({ length: 20 }, () => open(shop)));
    const more = await shop.call("GET /events/", { headers: accept });
    expect([more.status, more.code, more.headers.get("retry-after")]).toEqual([429, 5107, "30"]);
    const other = await open(await suite.shop());
    streams[0]?.close();
    const next = await until("room", async () => {
      const response = await fetch(`${shop.app.url}/events/?namespace=${shop.namespace}`, {
        headers: { Authorization: shop.auth, ...accept },
      });
      return response.ok && response;
    });
    await next.body?.cancel();
    for (const stream of [...streams, other]) stream.close();
  });
});
