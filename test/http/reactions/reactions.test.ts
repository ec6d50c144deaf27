import { expect } from "bun:test";
import { inTransaction } from "../../../src/server/db/transaction.ts";
import { issueToken } from "../../../src/server/modules/tokens/service.ts";
import { newId } from "../../../src/server/values/stamps.ts";
import { openAccount } from "../../support/account.ts";
import { type ProductReply, type Shop, tenantContext } from "../../support/factories.ts";
import { becomeVisitor, ofProduct, type Reacting, reacting } from "../../support/reactions.ts";
import { onEachDatabase } from "../../support/suite.ts";

const visitorForm = /^vis_[0-9a-hjkmnp-tv-z]{26}-[0-9a-f]{64}$/;
const absent = "prod_01h455vb4pex5vsknk084sn02q";

onEachDatabase((suite) => {
  const { test, onFile } = suite;
  const read = async (shop: Shop, id: string) => (await shop.call<ProductReply>(`GET /products/${id}/`)).data;
  const stateOf = async (who: Reacting, id: string) => {
    const { data } = await who.get(id);
    return [data.active, data.count];
  };

  for (const path of ["/likes/", "/bookmarks/"] as const) {
    const open = async (shop?: Shop) => {
      const made = shop ?? (await suite.shop());
      const { id } = await made.createProduct();
      const as = (visitor?: string) => reacting(made.callAnonymously, path, visitor === undefined ? {} : { visitor });
      return { shop: made, id, as };
    };

    test(`${path} creates a visitor at the first call, and counts a visitor only once`, async () => {
      const { shop, id, as } = await open();
      const before = await read(shop, id);
      expect((await as().get(id)).data).toEqual({ active: false, count: 0 });
      const { status, data } = await as().add(id);
      expect([status, data.active, data.count]).toEqual([200, true, 1]);
      expect(data.visitor).toMatch(visitorForm);
      const me = as(data.visitor);
      for (let again = 0; again < 2; again++) expect((await me.add(id)).data).toEqual({ active: true, count: 1 });
      expect(await stateOf(me, id)).toEqual([true, 1]);
      expect(await stateOf(as(), id)).toEqual([false, 1]);
      const other = as((await as().add(id)).data.visitor);
      expect(await stateOf(other, id)).toEqual([true, 2]);
      const shown = await read(shop, id);
      expect(shown.likes_count).toBe(path === "/likes/" ? 2 : 0);
      // A changed count does not change the product's version.
      expect(shown).toEqual({ ...before, likes_count: shown.likes_count });
      for (let again = 0; again < 2; again++) expect((await me.remove(id)).data).toEqual({ active: false, count: 1 });
      expect(await stateOf(other, id)).toEqual([true, 1]);
      expect((await as().remove(id)).data).toEqual({ active: false, count: 1 });
      expect((await read(shop, id)).likes_count).toBe(path === "/likes/" ? 1 : 0);
    });

    // Likes and bookmarks use the same statements.
    if (path === "/likes/" || suite.kind === "server") continue;

    onFile(`${path} of a signed-in user belong to the user, even with a visitor token`, async () => {
      const { shop, id, as } = await open();
      const eve = await openAccount(shop);
      const visitor = (await as().add(id)).data.visitor as string;
      const user = { user_id: eve.id, token: eve.token };
      const asUser = reacting(shop.callAnonymously, path, { ...user, visitor });
      expect((await asUser.add(id)).data).toEqual({ active: true, count: 2 });
      expect((await asUser.remove(id)).data).toEqual({ active: false, count: 1 });
      expect(await stateOf(as(visitor), id)).toEqual([true, 1]);
      expect((await asUser.list()).data).toEqual([]);
      const wrong = reacting(shop.callAnonymously, path, { ...user, token: `v2.${"x".repeat(43)}` });
      for (const act of [wrong.add(id), wrong.remove(id), wrong.get(id), wrong.list()]) {
        expect((await act).code).toBe(5205);
      }
      expect((await reacting(shop.callAnonymously, path, { user_id: eve.id }).add(id)).code).toBe(5204);
    });

    onFile(`${path} with app credentials belong to the visitor or user whose token is sent`, async () => {
      const { shop, id, as } = await open();
      const eve = await openAccount(shop);
      const visitor = (await reacting(shop.call, path, {}).add(id)).data.visitor as string;
      expect(await stateOf(as(visitor), id)).toEqual([true, 1]);
      expect((await reacting(shop.call, path, { visitor }).add(id)).data).toEqual({ active: true, count: 1 });
      const forEve = reacting(shop.call, path, { user_id: eve.id });
      for (const act of [forEve.add(id), forEve.remove(id), forEve.get(id), forEve.list()]) {
        const { code, fields } = await act;
        expect([code, fields]).toEqual([5102, ["user_id"]]);
      }
      expect(await stateOf(as(), id)).toEqual([false, 1]);

      // With a user token, the user acts. A wrong token is an error, also in the body.
      const withToken = (token: string) => reacting(shop.call, path, { user_id: eve.id, token });
      expect((await withToken(eve.token).add(id)).data).toEqual({ active: true, count: 2 });
      const { token: fresh } = await inTransaction(await tenantContext(shop), (tx) => issueToken(tx, eve.id));
      const wrong = withToken(eve.token);
      for (const act of [wrong.add(id), wrong.remove(id), wrong.get(id), wrong.list()]) {
        expect((await act).code).toBe(5207);
      }
      expect((await withToken(fresh).remove(id)).data).toEqual({ active: false, count: 1 });
      const body = { ...ofProduct(id), user_id: eve.id };
      const send = (token: string) => shop.callAnonymously(`POST ${path}`, { body: { ...body, token } });
      expect((await send(eve.token)).code).toBe(5207);
      expect((await send(fresh)).data).toEqual({ active: true, count: 2 });
    });

    onFile(`${path} accept the visitor in the query or the body, and the query takes precedence`, async () => {
      const { shop, id, as } = await open();
      const [first, second] = [
        await becomeVisitor(shop.callAnonymously, path, id),
        await becomeVisitor(shop.callAnonymously, path, id),
      ];
      const body = { ...ofProduct(id), visitor: first };
      const remove = (query: Record<string, string>) =>
        shop.callAnonymously(`DELETE ${path}`, { query: { ...ofProduct(id), ...query }, body: { visitor: first } });
      await remove({ visitor: second });
      expect(await stateOf(as(second), id)).toEqual([false, 1]);
      await remove({});
      expect(await stateOf(as(first), id)).toEqual([false, 0]);
      const add = (query: Record<string, string>) => shop.callAnonymously(`POST ${path}`, { query, body });
      expect((await add({ visitor: second })).data).toEqual({ active: true, count: 1 });
      expect(await stateOf(as(first), id)).toEqual([false, 1]);
      expect((await add({})).data).toEqual({ active: true, count: 2 });
      expect(await stateOf(as(first), id)).toEqual([true, 2]);
    });

    onFile(`${path} of an unknown or unpublished resource get 5301, and create no visitor`, async (shop) => {
      const hidden = async (status: string) => (await shop.createProduct({ status })).id;
      const deleted = (await shop.createProduct()).id;
      await shop.call(`DELETE /products/${deleted}/`);
      const elsewhere = (await (await suite.shop()).createProduct()).id;
      const ids = [await hidden("draft"), await hidden("archived"), deleted, elsewhere, absent, newId("usr"), "x", ""];
      for (const by of [
        {},
        { visitor: await becomeVisitor(shop.callAnonymously, path, (await shop.createProduct()).id) },
      ]) {
        const who = reacting(shop.callAnonymously, path, by as Record<string, string>);
        for (const id of ids) {
          for (const reply of await Promise.all([who.add(id), who.remove(id), who.get(id)])) {
            expect([id, reply.code, reply.text.includes("vis_")]).toEqual([id, 5301, false]);
          }
        }
      }
      const { rows } = await suite.app.db.execute({
        sql: "select count(*) as n from reactions where resource_id in (select value from json_each(?))",
        args: [JSON.stringify(ids)],
      });
      expect(rows[0]?.n).toBe(0);
    });

    onFile(`${path} of an unpublished resource can be removed, and are shown when it is published`, async () => {
      const { shop, id, as } = await open();
      const visitors = [1, 2, 3].map(() => becomeVisitor(shop.callAnonymously, path, id));
      const [me, two, three] = (await Promise.all(visitors)).map(as) as [Reacting, Reacting, Reacting];
      const show = (status: string) => shop.call(`PATCH /products/${id}/`, { body: { status } });
      await show("draft");
      for (const reply of [await me.get(id), await me.add(id), await as().remove(id)]) expect(reply.code).toBe(5301);
      expect((await me.list({ include_total: "true" })).page.total).toBe(0);
      expect((await me.remove(id)).data).toEqual({ active: false, count: 2 });
      expect((await me.remove(id)).code).toBe(5301);
      await show("published");
      expect(await stateOf(me, id)).toEqual([false, 2]);
      expect((await two.list()).data.map((one) => one.resource_id)).toEqual([id]);
      await shop.call(`DELETE /products/${id}/`);
      expect((await two.list()).data).toEqual([]);
      expect((await two.remove(id)).data).toEqual({ active: false, count: 1 });
      expect((await two.remove(id)).code).toBe(5301);
      expect((await three.get(id)).code).toBe(5301);
    });

    onFile(`${path} refuse an invalid resource or field by name`, async () => {
      const { shop, id } = await open();
      const of = ofProduct(id);
      const bad: [request: string, query: Record<string, string>, body: unknown, field: string][] = [
        ["POST", {}, { ...of, resource_type: "user" }, "resource_type"],
        ["POST", {}, { resource_id: id }, "resource_type"],
        ["POST", {}, { resource_type: "product" }, "resource_id"],
        ["POST", {}, { ...of, resource_id: 5 }, "resource_id"],
        ["POST", {}, { ...of, visitor: 5 }, "visitor"],
        ["POST", {}, { ...of, actor: "usr_1" }, "actor"],
        ["POST", { limit: "5" }, of, "limit"],
        ["DELETE", { resource_type: "product" }, undefined, "resource_id"],
        ["GET", { resource_id: id }, undefined, "resource_type"],
        ["GET", { ...of, resource_type: "lamp" }, undefined, "resource_type"],
        ["GET", { resource_type: "lamp" }, undefined, "resource_type"],
        ["GET", { fields: "resource_id" }, undefined, "fields"],
      ];
      for (const [method, query, body, field] of bad) {
        const { code, fields } = await shop.callAnonymously(`${method} ${path}`, {
          query,
          ...(body !== undefined && { body }),
        });
        expect([method, query, body, code, fields]).toEqual([method, query, body, 5102, [field]]);
      }
    });
  }

  onFile("deleting a user removes their likes and bookmarks from the counts", async (shop) => {
    const { id } = await shop.createProduct();
    const eve = await openAccount(shop);
    await becomeVisitor(shop.callAnonymously, "/likes/", id);
    for (const path of ["/likes/", "/bookmarks/"] as const) {
      await reacting(shop.callAnonymously, path, { user_id: eve.id, token: eve.token }).add(id);
    }
    expect((await read(shop, id)).likes_count).toBe(2);
    expect((await shop.call(`DELETE /users/${eve.id}/`)).status).toBe(200);
    expect((await read(shop, id)).likes_count).toBe(1);
    expect(await stateOf(reacting(shop.callAnonymously, "/bookmarks/", {}), id)).toEqual([false, 0]);
    const sql = "select count(*) as n from reactions where actor = ?";
    expect((await suite.app.db.execute({ sql, args: [eve.id] })).rows[0]?.n).toBe(0);
  });
});
