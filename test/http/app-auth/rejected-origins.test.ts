import { expect, test } from "bun:test";
import {
  createRejectionRecorder,
  listRejections,
  purgeRejections,
  setOrigins,
} from "../../../src/server/modules/app-keys/origins.ts";
import { onDatabase } from "../../support/suite.ts";
import { until } from "../../support/until.ts";

const dayMs = 86_400_000;

onDatabase("file", (suite) => {
  const open = async () => {
    const shop = await suite.shop();
    const appId = shop.key.app_id;
    await setOrigins(suite.app.system, { appId, origins: ["shop.example.com"] });
    const send = (origin: string | null, more: { auth?: string } = {}) =>
      shop.call("GET /products/", { headers: { origin }, ...more });
    const list = () => listRejections(suite.app.system, appId);
    /** Sends a request that is refused, and waits until its origin is the newest on the list. */
    const refuse = async (origin: string | null) => {
      suite.app.clock.advance(1000);
      expect((await send(origin)).code).toBe(5203);
      await until("the record", async () => (await list())[0]?.origin === (origin ?? "").slice(0, 200));
      return new Date(suite.app.clock.now()).toISOString();
    };
    return { appId, send, list, refuse };
  };

  test("a refused origin of the right secret is recorded with its last time, also a missing one", async () => {
    const { appId, send, list, refuse } = await open();
    await refuse("https://evil.example");
    const last = await refuse("https://evil.example");
    const none = await refuse(null);
    suite.app.clock.advance(1000);
    await send("https://shop.example.com");
    expect((await send("https://other.example", { auth: `Bearer ${appId}:wrong` })).code).toBe(5203);
    expect(await list()).toEqual([
      { origin: "", last_at: none },
      { origin: "https://evil.example", last_at: last },
    ]);
  });

  test("each key keeps its newest fifty origins, each cut to 200 characters", async () => {
    const { list, refuse, appId } = await open();
    const other = await open();
    await other.refuse("https://kept.example");
    await refuse(`https://${"a".repeat(500)}.example`);
    expect((await list())[0]?.origin).toHaveLength(200);
    const record = createRejectionRecorder(suite.app.db);
    const { clock } = suite.app;
    for (let n = 0; n < 60; n++) record(appId, `https://${n}.example`, clock.now() + (n + 1) * 1000);
    await until("the last record", async () => (await list())[0]?.origin === "https://59.example");
    expect((await list()).map(({ origin }) => origin).slice(48)).toEqual(["https://11.example", "https://10.example"]);
    expect(await other.list()).toHaveLength(1);
  });

  test("a refusal that has not recurred for thirty days is purged", async () => {
    const { list, refuse } = await open();
    const { clock, system } = suite.app;
    await refuse("https://old.example");
    clock.advance(20 * dayMs);
    await refuse("https://new.example");
    clock.advance(10 * dayMs + 1000);
    // One call removes a batch, and other tests have left origins too.
    while ((await purgeRejections(system)) > 0);
    expect((await list()).map(({ origin }) => origin)).toEqual(["https://new.example"]);
  });
});
