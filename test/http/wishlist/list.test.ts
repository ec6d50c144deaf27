import { expect, test } from "bun:test";
import { type Account, openAccount } from "../../support/account.ts";
import type { Shop } from "../../support/factories.ts";
import { onDatabase } from "../../support/suite.ts";
import { fillWishlist, type WishReply } from "../../support/wishlist.ts";

const absentUser = "usr_01h455vb4pex5vsknk084sn02q";

onDatabase("file", (suite) => {
  async function open(): Promise<{ shop: Shop; eve: Account }> {
    const shop = await suite.shop();
    return { shop, eve: await openAccount(shop) };
  }
  const wish = async (shop: Shop, who: Account, fields: Record<string, unknown> = {}) => {
    const { id } = await shop.createProduct(fields);
    return (await who.call<WishReply>("POST /wishlist/", { body: { product_id: id } })).data;
  };
  const query = ({ id, token }: Account, more: Record<string, string>) => ({ query: { user_id: id, token, ...more } });

  test("pages of a wishlist contain each item once, newest first, even with equal times and concurrent changes", async () => {
    const { shop, eve } = await open();
    await fillWishlist(shop, eve, 7);
    const seen: string[] = [];
    let cursor: string | null = null;
    let pages = 0;
    do {
      const more: Record<string, string> = cursor === null ? {} : { cursor };
      const reply = await eve.call<WishReply[]>("GET /wishlist/", query(eve, { limit: "3", ...more }));
      expect(reply.page.limit).toBe(3);
      expect(reply.page.has_more).toBe(reply.page.next_cursor !== null);
      seen.push(...reply.data.map(({ id }) => id));
      cursor = reply.page.next_cursor;
      pages += 1;
      await wish(shop, eve);
    } while (cursor !== null);
    expect(pages).toBe(3);
    expect(seen).toEqual(seen.toSorted().toReversed());
    expect(new Set(seen).size).toBe(7);
    const { data, page } = await eve.call<WishReply[]>("GET /wishlist/", query(eve, { include_total: "true" }));
    expect(data).toHaveLength(10);
    expect(page).toEqual({ next_cursor: null, has_more: false, limit: 20, total: 10 });
  });

  test("titles in a wishlist are in the requested language, otherwise in the store's language", async () => {
    const { shop, eve } = await open();
    const translations = { de: { title: "Lampe" }, "pt-BR": { title: "Luminária" } };
    const { id } = await shop.createProduct({ title: "Lamp", translations });
    const made = await eve.call<WishReply>("POST /wishlist/", {
      ...query(eve, { lang: "de-AT" }),
      body: { product_id: id },
    });
    expect(made.data.product?.title).toBe("Lampe");
    for (const [lang, title] of [
      ["pt-BR", "Luminária"],
      ["de", "Lampe"],
      ["fr", "Lamp"],
    ] as const) {
      const { data } = await eve.call<WishReply[]>("GET /wishlist/", query(eve, { lang }));
      expect(data.map(({ product }) => product?.title)).toEqual([title]);
      const put = await eve.call<WishReply>(`PUT /wishlist/${id}/`, { ...query(eve, { lang }), body: {} });
      expect(put.data.product?.title).toBe(title);
    }
  });

  test("app keys and staff see and change the wishlist of the given customer, and customers only their own", async () => {
    const { shop, eve } = await open();
    const [mallory, staff] = [await openAccount(shop), await openAccount(shop, { role: "staff" })];
    const { product_id } = await wish(shop, eve);
    const named = { customer_id: eve.id };
    expect((await mallory.call("GET /wishlist/", query(mallory, named))).code).toBe(5301);
    expect((await staff.call<unknown[]>("GET /wishlist/")).data).toEqual([]);
    for (const send of [
      () => staff.call<WishReply[]>("GET /wishlist/", query(staff, named)),
      () => shop.call<WishReply[]>("GET /wishlist/", { query: named }),
      () => shop.call<WishReply[]>("GET /wishlist/", { query: { user_id: eve.id } }),
    ]) {
      expect((await send()).data.map((item) => item.product_id)).toEqual([product_id]);
    }
    const { id } = await shop.createProduct();
    const about = { query: { user_id: eve.id } };
    expect((await shop.call("POST /wishlist/", { ...about, body: { product_id: id } })).status).toBe(201);
    expect((await shop.call("POST /wishlist/", { body: { product_id: id, user_id: eve.id } })).status).toBe(200);
    expect((await shop.call(`PUT /wishlist/${id}/`, { ...about, body: { note: "x" } })).status).toBe(200);
    expect((await shop.call(`DELETE /wishlist/${id}/`, about)).status).toBe(200);
    expect((await eve.call<unknown[]>("GET /wishlist/")).data).toHaveLength(1);
    expect((await shop.call("GET /wishlist/")).fields).toEqual(["user_id"]);
    for (const user_id of [absentUser, "usr_x", "\u0000"]) {
      expect([user_id, (await shop.call("GET /wishlist/", { query: { user_id } })).code]).toEqual([user_id, 5301]);
    }
  });
});
