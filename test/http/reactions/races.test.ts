import { expect } from "bun:test";
import { deleteTenant } from "../../../src/server/modules/tenants/service.ts";
import { openAccount } from "../../support/account.ts";
import type { ProductReply, Shop } from "../../support/factories.ts";
import { uniform } from "../../support/random.ts";
import { becomeVisitor, type ReactionPath, reacting } from "../../support/reactions.ts";
import { findInconsistencies } from "../../support/record-check.ts";
import { onEachDatabase } from "../../support/suite.ts";

/** Runs this many clients at the same time. Each client waits for a reply before it sends its next request. */
const together = <T>(count: number, work: (index: number) => Promise<T>) =>
  Promise.all(Array.from({ length: count }, (_, index) => work(index)));

onEachDatabase((suite) => {
  const { kind, test, onFile } = suite;
  const likesOf = async (shop: Shop, id: string) =>
    (await shop.call<ProductReply>(`GET /products/${id}/`)).data.likes_count;
  const numbers = async (sql: string, ...args: string[]) =>
    (await suite.app.db.execute({ sql, args })).rows.map((row) => Number(row[0]));
  const rowsOf = (id: string, reaction: string) =>
    numbers("select count(*) from reactions where resource_id = ? and kind = ?", id, reaction);

  test("after random likes, unlikes and bookmarks of 25 visitors, each resource has the last state of each visitor", async (shop) => {
    const { id } = await shop.createProduct();
    const { id: other } = await shop.createProduct();
    const seed = Math.floor(Math.random() * 2 ** 32);
    const last = new Map<string, number>();
    await together(25, async (index) => {
      const random = uniform(seed + index);
      const visitor = await becomeVisitor(shop.callAnonymously, "/likes/", id);
      for (let step = 0; step < (kind === "file" ? 10 : 5); step++) {
        const path: ReactionPath = random.next().value < 0.7 ? "/likes/" : "/bookmarks/";
        const product = random.next().value < 0.7 ? id : other;
        const isAdded = random.next().value < 0.5;
        const me = reacting(shop.callAnonymously, path, { visitor });
        const { status, data } = await (isAdded ? me.add(product) : me.remove(product));
        expect([status, data.active]).toEqual([200, isAdded]);
        last.set(`${path} ${product} ${index}`, Number(isAdded));
      }
      if (!last.has(`/likes/ ${id} ${index}`)) last.set(`/likes/ ${id} ${index}`, 1);
    });
    for (const product of [id, other]) {
      for (const [path, reaction] of [
        ["/likes/", "like"],
        ["/bookmarks/", "bookmark"],
      ] as const) {
        const said = [...last].filter(([key]) => key.startsWith(`${path} ${product} `));
        const count = said.reduce((sum, [, active]) => sum + active, 0);
        const { data } = await reacting(shop.callAnonymously, path, {}).get(product);
        expect([seed, path, data.count, await rowsOf(product, reaction)]).toEqual([seed, path, count, [count]]);
        if (path === "/likes/") expect(await likesOf(shop, product)).toBe(count);
      }
    }
    expect((await findInconsistencies(suite.app.system, { namespace: shop.namespace })).inconsistencies).toEqual([]);
  }, 30_000);

  test("50 concurrent likes of one visitor count once, and 50 without a visitor count 50 times", async (shop) => {
    const { id } = await shop.createProduct();
    const visitor = await becomeVisitor(shop.callAnonymously, "/bookmarks/", id);
    const me = reacting(shop.callAnonymously, "/likes/", { visitor });
    const same = await together(50, () => me.add(id));
    expect(same.map(({ data }) => data)).toEqual(same.map(() => ({ active: true, count: 1 })));
    const gone = await together(50, () => me.remove(id));
    expect(gone.map(({ data }) => data)).toEqual(gone.map(() => ({ active: false, count: 0 })));
    const made = await together(50, () => reacting(shop.callAnonymously, "/likes/", {}).add(id));
    expect(new Set(made.map(({ data }) => data.visitor)).size).toBe(50);
    expect(made.map(({ data }) => data.count).toSorted((a, b) => a - b)).toEqual(made.map((_, index) => index + 1));
    expect([await likesOf(shop, id), await rowsOf(id, "like")]).toEqual([50, [50]]);
  });

  test("likes that a user adds while the user is deleted are removed, and the count is right", async (shop) => {
    const { id } = await shop.createProduct();
    await becomeVisitor(shop.callAnonymously, "/likes/", id);
    const codes = new Set<number | undefined>();
    for (let round = 0; round < 5; round++) {
      const eve = await openAccount(shop);
      const me = reacting(shop.callAnonymously, "/likes/", { user_id: eve.id, token: eve.token });
      const [, ...likes] = await Promise.all([
        shop.call(`DELETE /users/${eve.id}/`),
        ...Array.from({ length: 8 }, () => me.add(id)),
      ]);
      for (const { code } of likes) codes.add(code);
      expect(await numbers("select count(*) from reactions where actor = ?", eve.id)).toEqual([0]);
    }
    for (const code of codes) expect([undefined, 5205, 5207, 5301]).toContain(code);
    expect([await likesOf(shop, id), await rowsOf(id, "like")]).toEqual([1, [1]]);
  });

  onFile("deleting a store deletes its thousands of likes, and no likes of other stores", async () => {
    const [shop, other] = [await suite.shop(), await suite.shop()];
    const ids: string[] = [];
    for (const { namespace, createProduct } of [shop, other]) {
      const { id } = await createProduct();
      ids.push(id);
      await suite.app.db.execute({
        sql: `with recursive n (i) as (select 1 union all select i + 1 from n where i < 3000)
          insert into reactions (tenant_id, kind, resource_type, resource_id, actor, created_at)
          select t.id, iif(i % 2, 'like', 'bookmark'), 'product', ?, 'vis_' || i, '2026-01-01T00:00:00.000Z'
          from n, tenants t where t.namespace = ?`,
        args: [id, namespace],
      });
    }
    const [ours, theirs] = ids as [string, string];
    const eve = await openAccount(shop);
    await reacting(shop.callAnonymously, "/likes/", { user_id: eve.id, token: eve.token }).add(ours);
    expect(await likesOf(shop, ours)).toBe(1501);
    await deleteTenant(suite.app.system, shop.namespace);
    for (const table of ["reactions", "resource_counts"]) {
      expect(await numbers(`select count(*) from ${table} where resource_id = ?`, ours)).toEqual([0]);
    }
    expect([await likesOf(other, theirs), await rowsOf(theirs, "like")]).toEqual([1500, [1500]]);
  });
});
