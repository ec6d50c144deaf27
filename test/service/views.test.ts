import { expect, test } from "bun:test";
import { deleteTenant } from "../../src/server/modules/tenants/service.ts";
import { purgeViewDedupKeys, ViewBuffer } from "../../src/server/modules/views/view-buffer.ts";
import { startTestApp } from "../support/app.ts";
import { createClient, newAddress } from "../support/client.ts";
import type { Shop } from "../support/factories.ts";
import { failureOf } from "../support/failure.ts";
import { findInconsistencies } from "../support/record-check.ts";
import { onEachDatabase } from "../support/suite.ts";
import { until } from "../support/until.ts";
import { readViews, viewProduct } from "../support/views.ts";

const dayMs = 86_400_000;
const refusal = "the view is refused";

onEachDatabase((suite) => {
  const { onFile } = suite;
  const flush = () => suite.app.memory.views.flush();
  const open = async () => {
    const shop = await suite.shop();
    return { shop, id: (await shop.createProduct()).id };
  };
  const look = ({ callAnonymously }: Shop, id: string, times = 1) =>
    Promise.all(Array.from({ length: times }, () => viewProduct(callAnonymously, id, { address: newAddress() })));
  const countOf = async ({ callAnonymously }: Shop, id: string) => (await readViews(callAnonymously, id)).data.count;
  const today = () => new Date(suite.app.clock.now()).toISOString().slice(0, 10);
  const execute = (...statements: string[]) => suite.app.db.batch(statements);
  const countRows = async (table: string, where: string): Promise<number> => {
    const { rows } = await suite.app.db.execute(`select count(*) as n from ${table} where ${where}`);
    return Number(rows[0]?.n);
  };
  /** Makes the database refuse dedup keys, until the returned function is called. */
  async function refuseMarks(): Promise<() => Promise<unknown>> {
    await execute(
      `create trigger refuse_marks before insert on view_dedup_keys begin select raise(abort, '${refusal}'); end`,
    );
    return () => execute("drop trigger refuse_marks");
  }
  const noted = (tenantId: string, resourceId: string, dedupKey: string) => ({
    tenantId,
    resourceType: "product",
    resourceId,
    day: today(),
    dedupKey,
  });

  test("buffered views do not count if their resource is unpublished before they are written", async () => {
    const { shop, id } = await open();
    const publish = (status: string) => shop.call(`PATCH /products/${id}/`, { body: { status } });
    await look(shop, id);
    await publish("draft");
    await flush();
    await publish("published");
    expect(await countOf(shop, id)).toBe(0);
    await look(shop, id);
    await flush();
    expect(await countOf(shop, id)).toBe(1);
  });

  onFile("buffered views of a deleted store do not delay others", async () => {
    const [gone, other] = [await open(), await open()];
    await look(gone.shop, gone.id);
    await look(other.shop, other.id);
    await deleteTenant(suite.app.system, gone.shop.namespace);
    await flush();
    expect(await countOf(other.shop, other.id)).toBe(1);
    expect(await countRows("view_dedup_keys", `resource_id = '${gone.id}'`)).toBe(0);
  });

  test("views stay buffered while the database fails, and are counted when it works again; the failure is logged once", async () => {
    const { shop, id } = await open();
    const told: string[] = [];
    const buffer = new ViewBuffer({ db: suite.app.db, notice: (text) => told.push(text) });
    const { id: tenantId } = await tenantOf(shop);
    const accept = await refuseMarks();
    for (let n = 0; n < 10; n++) buffer.add(noted(tenantId, id, `mark-${n}`));
    await failureOf(buffer.flush());
    buffer.add(noted(tenantId, id, "one more"));
    for (let n = 0; n < 3; n++) expect(String(await failureOf(buffer.flush()))).toContain(refusal);
    expect(told).toEqual([expect.stringContaining("views cannot be written")]);
    await accept();
    await until("the next attempt", async () => (await countOf(shop, id)) === 11);
    await buffer.stop();
    expect(told.length).toBe(1);
  });

  onFile("a stopping server tries again to write views, and logs those that it could not write in time", async () => {
    const { shop, id } = await open();
    const told: string[] = [];
    const notice = (text: string) => told.push(text);
    const { id: tenantId } = await tenantOf(shop);
    const accept = await refuseMarks();
    const patient = new ViewBuffer({ db: suite.app.db, notice });
    patient.add(noted(tenantId, id, "a mark"));
    await failureOf(patient.flush());
    const hasty = new ViewBuffer({ db: suite.app.db, notice, lastMs: 0 });
    hasty.add(noted(tenantId, id, "another"));
    told.length = 0;
    await hasty.stop();
    expect(told.at(-1)).toBe("views lost because they could not be written: 1");
    const stopped = patient.stop();
    await accept();
    await stopped;
    expect(await countOf(shop, id)).toBe(1);
  });

  onFile("at the maximum of buffered views, views of new viewers get 5001, and known viewers get a reply", async () => {
    const { shop, id } = await open();
    const views = new ViewBuffer({ db: suite.app.db, notice: () => {}, maxWaiting: 2 });
    const memory = { ...suite.app.memory, views };
    const small = startTestApp({ db: suite.app.db, clock: suite.app.clock, memory });
    try {
      const call = createClient(small, { namespace: shop.namespace });
      const [first, second, third] = [newAddress(), newAddress(), newAddress()].map((address) => ({ address }));
      const accept = await refuseMarks();
      expect((await viewProduct(call, id, first)).status).toBe(200);
      expect((await viewProduct(call, id, second)).status).toBe(200);
      const refused = await viewProduct(call, id, third);
      expect([refused.code, refused.headers.get("retry-after")]).toEqual([5001, "1"]);
      expect((await viewProduct(call, id, first)).data.active).toBe(true);
      await accept();
      await views.flush();
      expect((await viewProduct(call, id, third)).data).toEqual({ active: true, count: 2 });
    } finally {
      await small.stop();
      await views.stop();
    }
    expect(await countOf(shop, id)).toBe(3);
  });

  onFile("new views are limited by address and visitor; repeated views are not limited", async () => {
    const shop = await suite.shop({ tenant: { addressWrites: 2 } });
    const { id } = await shop.createProduct();
    const address = newAddress();
    const codes: unknown[] = [];
    for (const agent of ["a", "b", "c", "a", "b", "c"]) {
      const { code } = await viewProduct(shop.callAnonymously, id, { address, agent });
      codes.push(code);
    }
    expect(codes).toEqual([undefined, undefined, 5107, undefined, undefined, 5107]);
    await flush();
    expect(await countOf(shop, id)).toBe(2);
  });

  onFile("dedup keys of yesterday and today are kept, older ones are purged, and counts stay", async () => {
    const { shop, id } = await open();
    const { clock } = suite.app;
    const marks = () => countRows("view_dedup_keys", `resource_id = '${id}'`);
    await look(shop, id, 3);
    await flush();
    clock.advance(dayMs);
    await look(shop, id, 2);
    await flush();
    while ((await purgeViewDedupKeys(suite.app.system)) > 0);
    expect(await marks()).toBe(5);
    // Keys are kept for one more hour, because clocks may be behind.
    clock.advance(dayMs - (clock.now() % dayMs) + 3_599_000);
    expect(await purgeViewDedupKeys(suite.app.system)).toBe(0);
    clock.advance(2000);
    expect(await purgeViewDedupKeys(suite.app.system)).toBeGreaterThanOrEqual(3);
    expect(await marks()).toBe(2);
    clock.advance(2 * dayMs);
    await purgeViewDedupKeys(suite.app.system);
    expect(await marks()).toBe(0);
    expect(await countOf(shop, id)).toBe(5);
    expect((await findInconsistencies(suite.app.system, { namespace: shop.namespace })).inconsistencies).toEqual([]);
  });

  onFile("doctor compares totals of views with the counts of days, and fixes them", async () => {
    const { shop, id } = await open();
    const [lost, made] = [await shop.createProduct(), await shop.createProduct()];
    for (const product of [id, lost.id]) await look(shop, product, 3);
    suite.app.clock.advance(dayMs);
    await look(shop, id, 2);
    await flush();
    const { namespace } = shop;
    await execute(
      `update resource_counts set views = 9 where resource_id = '${id}'`,
      `delete from resource_counts where resource_id = '${lost.id}'`,
      `insert into resource_counts (tenant_id, resource_type, resource_id, views)
        select tenant_id, 'product', id, 4 from products where id = '${made.id}'`,
    );
    const { inconsistencies } = await findInconsistencies(suite.app.system, { namespace, fix: true });
    const views = inconsistencies.filter(({ check }) => check === "resources");
    const found = views.map(({ subject, field, is, should }) => [subject, field, is, should].join());
    const wrong = [`${id},views,9,5`, `${lost.id},views,0,3`, `${made.id},views,4,0`];
    expect(found.toSorted()).toEqual(wrong.toSorted());
    expect((await findInconsistencies(suite.app.system, { namespace })).inconsistencies).toEqual([]);
    for (const [product, count] of [
      [id, 5],
      [lost.id, 3],
      [made.id, 0],
    ] as const) {
      const shown = await shop.call<{ views_count: number }>(`GET /products/${product}/`);
      expect([await countOf(shop, product), shown.data.views_count]).toEqual([count, count]);
    }
  });

  async function tenantOf({ namespace }: Shop): Promise<{ id: string }> {
    const { rows } = await suite.app.db.execute({
      sql: "select id from tenants where namespace = ?",
      args: [namespace],
    });
    return { id: String(rows[0]?.id) };
  }
});
