import { expect, test } from "bun:test";
import { type Account, openAccount } from "../../support/account.ts";
import type { Shop } from "../../support/factories.ts";
import { onEachDatabase } from "../../support/suite.ts";
import { fillWishlist, type WishReply } from "../../support/wishlist.ts";

const absent = "prod_01h455vb4pex5vsknk084sn02q";
const absentVariant = "var_01h455vb4pex5vsknk084sn02q";

onEachDatabase((suite) => {
  const { onFile } = suite;
  async function open(tenant = {}): Promise<{ shop: Shop; eve: Account }> {
    const shop = await suite.shop({ tenant });
    return { shop, eve: await openAccount(shop) };
  }
  const add = (eve: Account, body: Record<string, unknown>) => eve.call<WishReply>("POST /wishlist/", { body });
  const put = (eve: Account, id: string, body: Record<string, unknown>, tag?: string) =>
    eve.call<WishReply>(`PUT /wishlist/${id}/`, { body, ...(tag && { headers: { "if-match": tag } }) });
  const list = async (eve: Account) => (await eve.call<WishReply[]>("GET /wishlist/")).data;

  onFile("an item of a wishlist has product, price when added, current price and availability", async () => {
    const { shop, eve } = await open();
    const images = [{ url: "https://shop.example/lamp.png", alt: "A lamp" }];
    const product = await shop.createProduct({ title: "Lamp", price: 19.99, stock: 1, images });
    const made = await add(eve, { product_id: product.id, note: "For the hall\nif blue" });
    expect([made.status, made.headers.get("etag")]).toEqual([201, '"1"']);
    const at = new Date(suite.app.clock.now()).toISOString();
    expect(made.data).toEqual({
      id: expect.stringMatching(/^wish_/) as unknown as string,
      product_id: product.id,
      variant_id: null,
      note: "For the hall\nif blue",
      price_at_add: 19.99,
      price_at_add_minor: 1999,
      currency: "EUR",
      product: { id: product.id, title: "Lamp", slug: "lamp", image: "https://shop.example/lamp.png" },
      price: 19.99,
      price_minor: 1999,
      available: true,
      version: 1,
      created_at: at,
      updated_at: at,
    });
    expect(await list(eve)).toEqual([made.data]);
    expect((await eve.call(`GET /wishlist/${product.id}/`)).data).toEqual(made.data as never);

    await shop.call(`PATCH /products/${product.id}/`, { body: { price: 5, stock: 0, images: [], title: "Lantern" } });
    const [item] = await list(eve);
    expect(item).toEqual({
      ...made.data,
      price: 5,
      price_minor: 500,
      available: false,
      product: { id: product.id, title: "Lantern", slug: "lamp", image: null },
    });
  });

  onFile("adding an existing item to a wishlist returns it unchanged, even with another variant", async () => {
    const { shop, eve } = await open();
    const { id } = await shop.createProduct();
    const first = await add(eve, { product_id: id, note: "One" });
    suite.app.clock.advance(1000);
    const again = await add(eve, { product_id: id, note: "Two" });
    expect([again.status, again.headers.get("etag")]).toEqual([200, '"1"']);
    expect(again.data).toEqual(first.data);
    await shop.call(`PATCH /products/${id}/`, { body: { status: "archived" } });
    expect((await add(eve, { product_id: id })).status).toBe(200);
    expect(await list(eve)).toHaveLength(1);
  });

  onFile("PUT creates an item of a wishlist, or replaces its note and variant", async () => {
    const { shop, eve } = await open();
    const { id } = await shop.createProduct({ price: 3 });
    const made = await put(eve, id, { note: "One" });
    expect([made.status, made.data.note, made.data.version]).toEqual([201, "One", 1]);
    await shop.call(`PATCH /products/${id}/`, { body: { price: 4 } });
    suite.app.clock.advance(1000);
    const changed = await put(eve, id, {});
    expect([changed.status, changed.headers.get("etag")]).toEqual([200, '"2"']);
    expect(changed.data).toEqual({
      ...made.data,
      note: null,
      price: 4,
      price_minor: 400,
      version: 2,
      updated_at: new Date(suite.app.clock.now()).toISOString(),
    });
  });

  onFile("price_at_add is the price of the chosen variant until another variant is chosen", async () => {
    const { shop, eve } = await open({ currency: "KWD" });
    const variants = [
      { options: { size: "M" }, price: 2.125, stock: 1 },
      { options: { size: "L" }, price: 3.005, stock: 0 },
    ];
    const { id, variants: made } = await shop.createProduct({ price: 1, variants });
    const [m, l] = made.map((variant) => variant.id) as [string, string];
    const shown = ({ data }: { data: WishReply }) => [data.variant_id, data.price_at_add, data.price, data.available];
    expect(shown(await add(eve, { product_id: id, variant_id: m }))).toEqual([m, 2.125, 2.125, true]);
    await shop.call(`PATCH /products/${id}/variants/${m}/`, { body: { price: 9 } });
    expect(shown(await put(eve, id, { variant_id: m, note: "Now" }))).toEqual([m, 2.125, 9, true]);
    expect(shown(await put(eve, id, { variant_id: l }))).toEqual([l, 3.005, 3.005, false]);
    expect(shown(await put(eve, id, {}))).toEqual([null, 1, 1, true]);
  });

  onFile("the availability of an item depends on stock, reservations, variants and backorders", async () => {
    const { shop, eve } = await open();
    const sizes = [
      { options: { size: "M" }, stock: 0 },
      { options: { size: "L" }, stock: 1 },
    ];
    const shelf: [fields: Record<string, unknown>, variant: number | null, available: boolean][] = [
      [{ stock: null }, null, true],
      [{ stock: 2 }, null, true],
      // An order reserves one of these two products.
      [{ stock: 1 }, null, false],
      [{ variants: sizes.slice(1) }, 0, false],
      [{ stock: 0 }, null, false],
      [{ stock: 0, allow_backorder: true }, null, true],
      [{ variants: sizes }, null, true],
      [{ variants: sizes }, 0, false],
      [{ variants: sizes }, 1, true],
      [{ variants: sizes, allow_backorder: true }, 0, true],
      [{ variants: sizes.slice(0, 1) }, null, false],
      [{ variants: [{ ...sizes[0], stock: null }] }, 0, true],
    ];
    for (const [index, [fields, variant]] of shelf.entries()) {
      const product = await shop.createProduct(fields);
      const variant_id = variant === null ? null : product.variants[variant]?.id;
      const item = variant === null ? { product_id: product.id } : { variant_id };
      if (index === 2 || index === 3) await shop.call("POST /orders/", { body: { items: [{ ...item, quantity: 1 }] } });
      expect((await add(eve, { product_id: product.id, variant_id })).status).toBe(201);
    }
    const seen = (await list(eve)).toReversed().map(({ available }) => available);
    expect(seen).toEqual(shelf.map(([, , available]) => available));
  });

  const ends: [name: string, end: (shop: Shop, id: string, variant: string) => Promise<unknown>, left: boolean][] = [
    ["archived", (shop, id) => shop.call(`PATCH /products/${id}/`, { body: { status: "archived" } }), false],
    ["deleted", (shop, id) => shop.call(`DELETE /products/${id}/`), false],
    ["without its variant", (shop, id, variant) => shop.call(`DELETE /products/${id}/variants/${variant}/`), true],
  ];
  onFile("an item that is no longer sold stays in the wishlist without a price, and can be removed", async () => {
    const { shop, eve } = await open();
    for (const [name, end, isShown] of ends) {
      const { id, variants } = await shop.createProduct({ variants: [{ options: { size: "M" }, stock: 5 }] });
      const variant = variants[0]?.id as string;
      const made = await add(eve, { product_id: id, variant_id: variant });
      await end(shop, id, variant);
      const [item] = await list(eve);
      const expected = { ...made.data, price: null, price_minor: null, available: false };
      // The wishlist shows no unpublished products, either.
      expect([name, item]).toEqual([name, isShown ? expected : { ...expected, product: null }]);
      const noted = await put(eve, id, { variant_id: variant, note: "Pity" });
      expect([noted.status, noted.data.note, noted.data.price_at_add]).toEqual([200, "Pity", made.data.price_at_add]);
      if (!isShown) expect((await put(eve, id, {})).fields).toEqual(["variant_id"]);
      const removed = await eve.call(`DELETE /wishlist/${id}/`);
      expect<unknown>(removed.data).toEqual({ id: made.data.id, product_id: id, deleted: true });
      expect(await list(eve)).toEqual([]);
      if (isShown) continue;
      expect((await add(eve, { product_id: id })).fields).toEqual(["product_id"]);
      expect((await put(eve, id, {})).code).toBe(5301);
    }
  });

  onFile("an unknown product, a variant of another product and an invalid note are refused by name", async () => {
    const { shop, eve } = await open();
    const { id } = await shop.createProduct();
    const draft = await shop.createProduct({ status: "draft" });
    const other = await shop.createProduct({ variants: [{ options: { size: "M" } }] });
    const elsewhere = await (await suite.shop()).createProduct();
    const foreign = other.variants[0]?.id;
    const bad: [body: Record<string, unknown>, field: string][] = [
      [{ product_id: "lamp" }, "product_id"],
      ...[draft.id, elsewhere.id, absent, "prod_x", "", "\u0000"].map(
        (product_id) => [{ product_id }, "product_id"] as [Record<string, unknown>, string],
      ),
      ...[foreign, absentVariant, "var_x", ""].map(
        (variant_id) => [{ product_id: id, variant_id }, "variant_id"] as [Record<string, unknown>, string],
      ),
      ...["", " ", "a".repeat(501), "\u0000", "\ud800", 5].map(
        (note) => [{ product_id: id, note }, "note"] as [Record<string, unknown>, string],
      ),
      [{ product_id: id, rank: 1 }, "rank"],
      [{}, "product_id"],
    ];
    for (const [body, field] of bad) {
      const reply = await add(eve, body);
      expect([body, reply.code, reply.fields]).toEqual([body, 5102, [field]]);
      const { product_id, ...rest } = body;
      if (product_id !== id) continue;
      expect([body, (await put(eve, id, rest)).fields]).toEqual([body, [field]]);
    }
    for (const product of [draft.id, elsewhere.id, absent, "prod_x", "%00"]) {
      expect((await put(eve, product, {})).code).toBe(5301);
      expect((await eve.call(`DELETE /wishlist/${product}/`)).code).toBe(5301);
      expect((await eve.call(`GET /wishlist/${product}/`)).code).toBe(5301);
    }
    expect((await eve.call(`DELETE /wishlist/${id}/`)).code).toBe(5301);
    expect(await list(eve)).toEqual([]);
  });

  onFile("with If-Match, PUT creates no item", async () => {
    const { shop, eve } = await open();
    const { id } = await shop.createProduct();
    expect((await put(eve, id, {}, '"1"')).code).toBe(5303);
    expect((await put(eve, absent, {}, '"1"')).code).toBe(5301);
    expect(await list(eve)).toEqual([]);
  });

  onFile(
    "a wishlist has at most a thousand products, which can then be changed",
    async () => {
      const { shop, eve } = await open();
      const { id } = await shop.createProduct();
      const { id: on } = await shop.createProduct();
      await fillWishlist(shop, eve, 999);
      expect((await add(eve, { product_id: on })).status).toBe(201);
      expect((await add(eve, { product_id: id })).code).toBe(5306);
      expect((await put(eve, id, {})).code).toBe(5306);
      expect((await add(eve, { product_id: on })).status).toBe(200);
      expect((await put(eve, on, { note: "Still" })).status).toBe(200);
      await eve.call(`DELETE /wishlist/${on}/`);
      expect((await put(eve, id, {})).status).toBe(201);
    },
    30_000,
  );

  test("fifty concurrent calls that add an item create it once, and one of them gets 201", async () => {
    const { shop, eve } = await open();
    const { id } = await shop.createProduct();
    const many = await Promise.all(Array.from({ length: 50 }, () => add(eve, { product_id: id })));
    expect(many.map(({ status }) => status).toSorted()).toEqual([...Array(49).fill(200), 201]);
    expect(new Set(many.map(({ data }) => data.id)).size).toBe(1);
    expect(await list(eve)).toHaveLength(1);
    const puts = await Promise.all(Array.from({ length: 20 }, (_, n) => put(eve, id, { note: `${n}` })));
    expect(puts.map(({ data }) => data.version).toSorted((a, b) => a - b)).toEqual(puts.map((_, n) => n + 2));
  });
});
