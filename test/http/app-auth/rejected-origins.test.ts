import { expect, test } from "bun:test";
import { setOrigins } from "../../../src/server/modules/app-keys/origins.ts";
import { listRejections, purgeRejections } from "../../../src/server/modules/app-keys/rejections.ts";
import { deleteTenant } from "../../../src/server/modules/tenants/service.ts";
import { newAddress } from "../../support/client.ts";
import { onDatabase } from "../../support/suite.ts";

const dayMs = 86_400_000;

onDatabase("file", (suite) => {
  const open = async () => {
    const shop = await suite.shop();
    const appId = shop.key.app_id;
    await setOrigins(suite.app.system, { appId, origins: ["shop.example.com"] });
    const send = (origin: string | null, more: { auth?: string } = {}) =>
      shop.call("GET /products/", { headers: { origin }, address: newAddress(), ...more });
    const list = async () => {
      await suite.app.memory.rejections.flush();
      return listRejections(suite.app.system, appId);
    };
    return { shop, appId, send, list };
  };

  test("a refused origin is recorded with count and times, also a missing one", async () => {
    const { send, list } = await open();
    const { clock } = suite.app;
    const first = new Date(clock.now()).toISOString();
    await send("https://evil.example");
    await list();
    clock.advance(5000);
    const second = new Date(clock.now()).toISOString();
    await send("https://evil.example");
    await send("https://evil.example");
    clock.advance(5000);
    await send(null);
    await send("https://shop.example.com");
    const third = new Date(clock.now()).toISOString();
    expect(await list()).toEqual([
      { origin: "", attempts: 1, first_at: third, last_at: third },
      { origin: "https://evil.example", attempts: 3, first_at: first, last_at: second },
    ]);
  });

  test("the origin of a wrong secret is not recorded", async () => {
    const { appId, send, list } = await open();
    expect((await send("https://evil.example", { auth: `Bearer ${appId}:wrong` })).code).toBe(5203);
    expect(await list()).toEqual([]);
  });

  test("each key keeps its newest fifty origins, each cut to 200 characters, regardless of other keys", async () => {
    const { send, list, appId } = await open();
    const other = await open();
    await other.send("https://kept.example");
    const { clock, memory } = suite.app;
    await send(`https://${"a".repeat(500)}.example`);
    expect((await list())[0]?.origin).toHaveLength(200);
    for (let n = 0; n < 60; n++) {
      clock.advance(1000);
      memory.rejections.note(appId, `https://${n}.example`, clock.now());
      if (n % 20 === 0) await memory.rejections.flush();
    }
    const kept = await list();
    expect(kept).toHaveLength(50);
    expect(kept[0]?.origin).toBe("https://59.example");
    expect(kept.at(-1)?.origin).toBe("https://10.example");
    expect(await other.list()).toHaveLength(1);
  });

  test("origins of a deleted key are dropped, without a failure", async () => {
    const { shop, appId } = await open();
    suite.app.memory.rejections.note(appId, "https://evil.example", suite.app.clock.now());
    await deleteTenant(suite.app.system, shop.namespace);
    await suite.app.memory.rejections.flush();
    expect(await listRejections(suite.app.system, appId)).toEqual([]);
  });

  test("a refusal that has not recurred for thirty days is purged", async () => {
    const { send, list } = await open();
    const { clock, system } = suite.app;
    await send("https://old.example");
    await list();
    clock.advance(20 * dayMs);
    await send("https://new.example");
    await list();
    clock.advance(10 * dayMs + 1000);
    // One call removes a batch, and other tests have left origins too.
    while ((await purgeRejections(system)) > 0);
    expect((await list()).map(({ origin }) => origin)).toEqual(["https://new.example"]);
  });

  test("at most a thousand origins wait; known ones are still counted", async () => {
    const { shop, appId, list } = await open();
    const { clock, memory } = suite.app;
    const keys = await Promise.all(Array.from({ length: 21 }, async () => (await shop.issueKey()).app_id));
    memory.rejections.note(appId, "https://first.example", clock.now());
    // Fifty of each key, so that none is dropped for having too many.
    for (const key of keys) {
      for (let n = 0; n < 50; n++) memory.rejections.note(key, `https://${n}.example`, clock.now());
    }
    memory.rejections.note(appId, "https://first.example", clock.now());
    expect((await list()).map(({ attempts }) => attempts)).toEqual([2]);
    const counts = await Promise.all(keys.map(async (key) => (await listRejections(suite.app.system, key)).length));
    expect(counts).toEqual([...Array(19).fill(50), 49, 0]);
  });
});
