import { beforeAll, expect, test } from "bun:test";
import { revokeKey } from "../../src/server/modules/app-keys/service.ts";
import type { Shop } from "../support/factories.ts";
import { onDatabase } from "../support/suite.ts";
import { loadBuiltClient } from "./built-client.ts";
import { connect, failureOf } from "./connect.ts";

onDatabase("file", (suite) => {
  let built: Awaited<ReturnType<typeof loadBuiltClient>>;
  beforeAll(async () => {
    built = await loadBuiltClient();
  });

  /** Opens a client whose connections the test can cut. */
  const open = (shop: Shop) => {
    const connections: AbortController[] = [];
    const client = connect(built, shop, {
      url: suite.app.url,
      fetch: (url, { signal, ...init }) => {
        const connection = new AbortController();
        connections.push(connection);
        return fetch(url, { ...init, signal: AbortSignal.any([connection.signal, ...(signal ? [signal] : [])]) });
      },
    });
    return { client, cut: () => connections.at(-1)?.abort(), connections };
  };

  test("after a lost connection, events() continues without missing or repeating an event", async () => {
    const shop = await suite.shop();
    const { client, cut, connections } = open(shop);
    const ids = [];
    const seen: string[] = [];
    ids.push((await shop.createProduct()).id);
    for await (const { subject } of client.events({ after: "0", types: "product.*" })) {
      seen.push(subject);
      if (seen.length === 4) break;
      if (seen.length === 2) cut();
      ids.push((await shop.createProduct()).id);
    }
    expect(seen).toEqual(ids);
    expect(connections.length).toBe(2);
    expect(
      suite.app.entries.filter(({ path, namespace }) => path === "/events/" && namespace === shop.namespace),
    ).toHaveLength(2);
  });

  test("events() throws the reason of its abort signal, or the error of a revoked key", async () => {
    const shop = await suite.shop();
    const { client } = open(shop);
    const end = new AbortController();
    const stopped = client.events({}, { signal: end.signal }).next();
    end.abort(new Error("enough"));
    expect(stopped).rejects.toThrow("enough");
    const revoked = client.events({ after: "0" });
    await shop.createProduct();
    await revoked.next();
    await revokeKey(suite.app.system, shop.key.app_id);
    expect((await failureOf(built, revoked.next())).code).toBe(5203);
    expect((await failureOf(built, client.events().next())).code).toBe(5203);
  });

  test("events() throws an error if the server cannot be reached at the first connection", async () => {
    const shop = await suite.shop();
    const client = connect(built, shop, { url: "http://127.0.0.1:1", retries: 0 });
    expect((await failureOf(built, client.events().next())).code).toBe("network");
  });
});
