import { expect, test } from "bun:test";
import type { ProductReply, Shop } from "../support/factories.ts";
import { reacting } from "../support/reactions.ts";
import { findInconsistencies } from "../support/record-check.ts";
import { onEachDatabase } from "../support/suite.ts";

onEachDatabase((suite) => {
  const doctor = (shop: Shop, fix = false) => findInconsistencies(suite.app.system, { namespace: shop.namespace, fix });
  const read = async (shop: Shop, id: string) => (await shop.call<ProductReply>(`GET /products/${id}/`)).data;
  const countsOf = async (shop: Shop, id: string) => {
    const sql = "select likes, bookmarks from resource_counts where resource_id = ?";
    const { rows } = await suite.app.db.execute({ sql, args: [id] });
    return [rows[0]?.likes, rows[0]?.bookmarks, (await read(shop, id)).likes_count];
  };

  test("wrong counts of likes and bookmarks, and wrong copies of them in products, are fixed", async () => {
    const shop = await suite.shop();
    const other = await suite.shop();
    const [lamp, table, chair, stool] = await Promise.all(
      [1, 2, 3, 4].map(async () => (await shop.createProduct()).id),
    );
    const theirs = (await other.createProduct()).id;
    for (const [count, id] of [lamp, table, chair].entries()) {
      for (let n = 0; n <= count; n++) await reacting(shop.callAnonymously, "/likes/", {}).add(id as string);
      await reacting(shop.callAnonymously, "/bookmarks/", {}).add(id as string);
    }
    await reacting(other.callAnonymously, "/likes/", {}).add(theirs);
    expect((await doctor(shop)).inconsistencies).toEqual([]);
    const before = await read(shop, lamp as string);

    await suite.app.db.batch([
      `update resource_counts set likes = 9, bookmarks = 0 where resource_id = '${lamp}'`,
      `delete from resource_counts where resource_id = '${table}'`,
      `update products set likes_count = 7, views_count = 4 where id = '${chair}'`,
      `insert into resource_counts (tenant_id, resource_type, resource_id, likes)
        select tenant_id, 'product', id, 5 from products where id = '${stool}'`,
      // Another store, which is not checked.
      `update resource_counts set likes = 8 where resource_id = '${theirs}'`,
      `update products set views_count = 9 where id = '${theirs}'`,
    ]);
    const told = await doctor(shop);
    const rows = told.inconsistencies.map(({ check, subject, field, is, should, fixable }) =>
      JSON.stringify([check, subject, field, is, should, fixable]),
    );
    expect(rows.sort()).toEqual(
      [
        ["resources", lamp, "likes", 9, 1, true],
        ["resources", lamp, "bookmarks", 0, 1, true],
        ["resources", table, "likes", 0, 2, true],
        ["resources", table, "bookmarks", 0, 1, true],
        ["resources", stool, "likes", 5, 0, true],
        ["counts", table, "likes_count", 2, 0, true],
        ["counts", chair, "likes_count", 7, 3, true],
        ["counts", chair, "views_count", 4, 0, true],
      ]
        .map((row) => JSON.stringify(row))
        .sort(),
    );
    const { ok, inconsistencies } = await doctor(shop, true);
    expect([ok, inconsistencies.every(({ fixed }) => fixed)]).toEqual([true, true]);
    expect((await doctor(shop)).inconsistencies).toEqual([]);
    const after = [lamp, table, chair, stool].map((id) => countsOf(shop, id as string));
    expect(await Promise.all(after)).toEqual([
      [1, 1, 1],
      [2, 1, 2],
      [3, 1, 3],
      [0, 0, 0],
    ]);
    // The fix does not change the product's version.
    expect(await read(shop, lamp as string)).toEqual(before);
    expect(await countsOf(other, theirs)).toEqual([8, 0, 8]);
  });
});
