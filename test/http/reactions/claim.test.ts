import { expect, test } from "bun:test";
import { transferReactions } from "../../../src/server/modules/reactions/service.ts";
import { type Account, goodPassword, openAccount } from "../../support/account.ts";
import { type ProductReply, type Shop, tenantContext } from "../../support/factories.ts";
import { failureOf } from "../../support/failure.ts";
import { becomeVisitor, type ReactionPath, reacting } from "../../support/reactions.ts";
import { onEachDatabase } from "../../support/suite.ts";

onEachDatabase((suite) => {
  const { onFile } = suite;
  const signIn = ({ callAnonymously }: Shop, { email }: Account, more: Record<string, unknown> = {}, query = {}) =>
    callAnonymously("POST /auth/login/", {
      query,
      body: { email, password: goodPassword, ...more },
    });
  /**
   * Opens a shop. Returns functions that sign a user in with a visitor, and that list the user's reactions of a kind.
   */
  async function open() {
    const shop = await suite.shop();
    const eve = await openAccount(shop);
    const products: string[] = [];
    for (let n = 0; n < 3; n++) products.push((await shop.createProduct()).id);
    const [one, two, three] = products as [string, string, string];
    const asUser = (path: ReactionPath, token = eve.token) =>
      reacting(shop.callAnonymously, path, { user_id: eve.id, token });
    const asVisitor = (path: ReactionPath, visitor: string) => reacting(shop.callAnonymously, path, { visitor });
    return { shop, eve, one, two, three, asUser, asVisitor };
  }
  const likesOf = async (shop: Shop, id: string) =>
    (await shop.call<ProductReply>(`GET /products/${id}/`)).data.likes_count;

  test("at a sign-in, the visitor's likes and bookmarks become the user's, and duplicates count once", async () => {
    const { shop, eve, one, two, three, asUser, asVisitor } = await open();
    const visitor = await becomeVisitor(shop.callAnonymously, "/likes/", one);
    await asVisitor("/likes/", visitor).add(two);
    await asVisitor("/bookmarks/", visitor).add(three);
    const other = await becomeVisitor(shop.callAnonymously, "/likes/", two);
    await asUser("/likes/").add(two);
    const mine = (await asUser("/likes/").list()).data;
    suite.app.clock.advance(1000);
    expect([await likesOf(shop, one), await likesOf(shop, two)]).toEqual([1, 3]);

    const { status, data } = await signIn(shop, eve, { visitor });
    expect([status, Object.keys(data)]).toEqual([200, ["user_id", "token", "expires_at", "store"]]);
    const token = data.token as string;
    const likes = (await asUser("/likes/", token).list()).data;
    expect(likes.map((like) => like.resource_id).toSorted()).toEqual([one, two].toSorted());
    expect(likes).toContainEqual(mine[0] as never);
    expect((await asUser("/bookmarks/", token).list()).data.map((mark) => mark.resource_id)).toEqual([three]);
    expect([await likesOf(shop, one), await likesOf(shop, two)]).toEqual([1, 2]);
    expect((await asUser("/likes/", token).get(two)).data).toEqual({ active: true, count: 2 });
    for (const path of ["/likes/", "/bookmarks/"] as const) {
      expect((await asVisitor(path, visitor).list()).data).toEqual([]);
    }
    expect((await asVisitor("/likes/", other).get(two)).data).toEqual({ active: true, count: 2 });
    // The visitor has no more likes for another user.
    const adam = await openAccount(shop);
    expect((await signIn(shop, adam, { visitor })).status).toBe(200);
    expect((await asUser("/likes/", token).list()).data).toHaveLength(2);
  });

  onFile("a failed sign-in moves no likes; a visitor in the query takes precedence over the body", async () => {
    const { shop, eve, one, two, asVisitor } = await open();
    const [first, second] = [
      await becomeVisitor(shop.callAnonymously, "/likes/", one),
      await becomeVisitor(shop.callAnonymously, "/likes/", two),
    ];
    await eve.enrol();
    expect((await signIn(shop, eve, { visitor: first, password: "wrong" })).code).toBe(5212);
    expect((await signIn(shop, eve, { visitor: first })).code).toBe(5211);
    expect((await asVisitor("/likes/", first).get(one)).data).toEqual({ active: true, count: 1 });
    expect((await signIn(shop, eve, { visitor: first, otp: await eve.code() }, { visitor: second })).status).toBe(200);
    expect((await asVisitor("/likes/", first).get(one)).data).toEqual({ active: true, count: 1 });
    expect((await asVisitor("/likes/", second).get(two)).data).toEqual({ active: false, count: 1 });
  });

  onFile("at a sign-in, an invalid visitor, or one of another store, is ignored and not logged", async () => {
    const { shop, eve, one, asUser } = await open();
    const other = await suite.shop();
    const theirs = (await other.createProduct()).id;
    const foreign = await becomeVisitor(other.callAnonymously, "/likes/", theirs);
    // Copies the rows to a visitor with the same id in another store.
    const copyTo =
      "insert into reactions select tenant_id, 'bookmark', 'product', ?, ?, 'a' from products where id = ?";
    const visitor = await becomeVisitor(shop.callAnonymously, "/likes/", one);
    const visitorId = visitor.split("-")[0] as string;
    await suite.app.db.execute({ sql: copyTo, args: [theirs, visitorId, theirs] });
    const altered = `${visitor.slice(0, -1)}${visitor.endsWith("0") ? "1" : "0"}`;
    let token = "";
    for (const wrong of [foreign, altered, "", "x".repeat(100)]) {
      const { status, data } = await signIn(shop, eve, { visitor: wrong });
      expect([wrong.slice(0, 99), status]).toEqual([wrong.slice(0, 99), 200]);
      token = data.token as string;
    }
    expect((await asUser("/likes/", token).list()).data).toEqual([]);
    expect(await likesOf(shop, one)).toBe(1);
    expect((await reacting(other.callAnonymously, "/likes/", { visitor: foreign }).list()).data).toHaveLength(1);
    expect((await signIn(shop, eve, { visitor: 5 })).fields).toEqual(["visitor"]);
    expect((await signIn(shop, eve, { visitor })).status).toBe(200);
    const actors = "select actor from reactions where resource_id = ? and kind = 'bookmark'";
    const { rows } = await suite.app.db.execute({ sql: actors, args: [theirs] });
    expect(rows.map(({ actor }) => actor)).toEqual([visitorId]);
    expect(suite.app.lines.filter((line) => line.includes("vis_"))).toEqual([]);
  });

  test("many reactions are moved a hundred at a time; if a login is interrupted, the next login moves the others", async () => {
    const { shop, eve } = await open();
    const ctx = await tenantContext(shop);
    const [visitor, count] = [`vis_${Bun.randomUUIDv7()}`, 250];
    for (const [actor, from] of [
      [visitor, 1],
      [eve.id, 200],
    ] as const) {
      await ctx.db.execute({
        sql: `with recursive n (i) as (select ? union all select i + 1 from n where i < ?)
          insert into reactions (tenant_id, kind, resource_type, resource_id, actor, created_at)
          select ?, iif(i % 2, 'like', 'bookmark'), 'product', 'many' || i, ?, 'then' from n`,
        args: [from, count, ctx.tenant.id, actor],
      });
    }
    const ofActor = async (actor: string) =>
      (await ctx.db.execute({ sql: "select count(*) as n from reactions where actor = ?", args: [actor] })).rows[0]?.n;
    let batches = 0;
    const batch: typeof ctx.db.batch = (statements) => {
      if (++batches === 2) throw new Error("The server died.");
      return ctx.db.batch(statements);
    };
    const dying = { ...ctx, db: Object.assign(Object.create(ctx.db), { batch }) as typeof ctx.db };
    expect(await failureOf(transferReactions(dying, visitor, eve.id))).toBeInstanceOf(Error);
    const left = Number(await ofActor(visitor));
    // A batch deletes at most a hundred rows and moves at most a hundred.
    expect(left).toBeGreaterThanOrEqual(50);
    expect(left).toBeLessThan(250);
    await transferReactions(ctx, visitor, eve.id);
    expect([await ofActor(visitor), await ofActor(eve.id)]).toEqual([0, count]);
    const sums = "select sum(likes) as likes, sum(bookmarks) as bookmarks from resource_counts where tenant_id = ?";
    const { rows } = await ctx.db.execute({ sql: sums, args: [ctx.tenant.id] });
    expect({ ...rows[0] }).toEqual({ likes: 125, bookmarks: 125 });
    // A user who was deleted meanwhile gets no reactions.
    await ctx.db.execute({ sql: "update reactions set actor = ? where actor = ?", args: [visitor, eve.id] });
    await transferReactions(ctx, visitor, "usr_deleted");
    expect(await ofActor(visitor)).toBe(count);
  });

  test("if several users sign in with one visitor at once, one gets all reactions, and none is doubled or lost", async () => {
    const { shop, eve, one, two, asVisitor } = await open();
    const visitor = await becomeVisitor(shop.callAnonymously, "/likes/", one);
    await asVisitor("/likes/", visitor).add(two);
    const people = [eve, await openAccount(shop), await openAccount(shop)];
    await Promise.all([...people, ...people].map((who) => signIn(shop, who, { visitor })));
    const { rows } = await suite.app.db.execute({
      sql: "select actor, count(*) as n from reactions where resource_id in (?, ?) group by actor",
      args: [one, two],
    });
    expect(rows.map(({ n }) => n)).toEqual([2]);
    expect(people.map(({ id }) => id)).toContain(rows[0]?.actor as string);
    expect([await likesOf(shop, one), await likesOf(shop, two)]).toEqual([1, 1]);
  });
});
