import { beforeAll, expect, test } from "bun:test";
import type { Actor, Ctx } from "../../src/server/context.ts";
import { listProducts } from "../../src/server/modules/catalogue/list/list.ts";
import type { ProductListQuery } from "../../src/server/modules/catalogue/list/model.ts";
import {
  createProduct,
  deleteProduct,
  getProduct,
  patchProduct,
  replaceProduct,
} from "../../src/server/modules/catalogue/products/service.ts";
import {
  addVariant,
  deleteVariant,
  getVariant,
  listVariants,
  patchVariant,
  replaceVariant,
} from "../../src/server/modules/catalogue/variants/variants.ts";
import { type ProductReply, type Shop, tenantContext, type VariantReply } from "../support/factories.ts";
import { failureOf } from "../support/failure.ts";
import { onEachDatabase } from "../support/suite.ts";

const lamp = { title: "Lamp", price: 1 };
const customer: Actor = { kind: "user", userId: "usr_1", role: "customer" };
const seers: Actor[] = [
  { kind: "terminal" },
  { kind: "app", appId: "app_1", scopes: new Set(["*"]) },
  { kind: "user", userId: "usr_1", role: "staff" },
  { kind: "user", userId: "usr_1", role: "owner" },
];

onEachDatabase((suite) => {
  let shop: Shop;
  let ctx: Ctx;
  beforeAll(async () => {
    shop = await suite.shop();
    ctx = await tenantContext(shop);
  });
  const parse = ({ json }: { json: string }) => JSON.parse(json) as ProductReply;
  const list = async (of: Ctx, query: ProductListQuery = {}) =>
    JSON.parse((await listProducts(of, { limit: 100, ...query })).json) as ProductReply[];

  suite.testOnFile(
    "customers and visitors see published products only; keys, staff and the terminal see all",
    async () => {
      const made: Record<string, string> = {};
      for (const status of ["draft", "published", "archived"] as const) {
        made[status] = parse(await createProduct(ctx, { ...lamp, status })).id;
      }
      const { draft = "", published = "", archived = "" } = made;
      for (const actor of [customer, { kind: "visitor" } as Actor]) {
        const theirs = { ...ctx, actor };
        expect(parse(await getProduct(theirs, published)).id).toBe(published);
        for (const id of [draft, archived]) {
          expect(await failureOf(getProduct(theirs, id))).toMatchObject({ code: 5301 });
        }
        const seen = (await list(theirs)).map(({ id }) => id);
        expect(seen).toContain(published);
        for (const id of [draft, archived]) expect(seen).not.toContain(id);
        expect((await list(theirs, { status: "published" })).map(({ id }) => id)).toEqual(seen);
        for (const status of ["draft", "archived"] as const) {
          expect(await failureOf(listProducts(theirs, { status }))).toMatchObject({ code: 5300 });
        }
      }
      for (const actor of seers) {
        const theirs = { ...ctx, actor };
        expect((await list(theirs)).map(({ id }) => id)).toContainValues(Object.values(made));
        expect(parse(await getProduct(theirs, draft)).id).toBe(draft);
      }
    },
  );

  suite.testOnFile("a customer cannot use a cursor of a staff list", async () => {
    const { page } = await listProducts(ctx, { limit: 1 });
    const cursor = page.next_cursor as string;
    expect(await failureOf(listProducts({ ...ctx, actor: customer }, { limit: 1, cursor }))).toMatchObject({
      code: 5100,
    });
  });

  suite.testOnFile("every service works in its own tenant only", async () => {
    const foreign = await tenantContext(await suite.shop());
    const { id } = parse(await createProduct(ctx, lamp));
    for (const work of [
      () => getProduct(foreign, id),
      () => replaceProduct(foreign, id, lamp, { ifMatch: null }),
      () => patchProduct(foreign, id, lamp, { ifMatch: null }),
      () => patchProduct(foreign, id, lamp, { ifMatch: 1 }),
      () => deleteProduct(foreign, id, null),
    ]) {
      expect(await failureOf(work)).toMatchObject({ code: 5301 });
    }
    expect(await list(foreign)).toEqual([]);
    expect(parse(await getProduct(ctx, id)).version).toBe(1);
  });

  suite.testOnFile("services validate input that no schema has checked", async () => {
    const { id } = parse(await createProduct(ctx, lamp));
    for (const [field, input] of [
      ["title", { title: " " }],
      ["title", { title: "a\0" }],
      ["slug", { slug: "A b" }],
      ["price", { price: -1 }],
      ["price", { price: 0.001 }],
      ["price", { price: Number.NaN }],
      ["sku", { sku: "\ud800" }],
      ["images.0.url", { images: [{ url: "javascript:1" }] }],
      ["tags.0", { tags: [""] }],
      ["metadata", { metadata: { a: "x".repeat(20_000) } }],
      ["compare_at_price", { compare_at_price: 0.001 }],
      ["stock", { stock: -1 }],
      ["stock", { stock: 0.5 }],
      ["translations.de.title", { translations: { de: { title: " " } } }],
      ["translations.de.description", { translations: { de: { description: "x".repeat(50_001) } } }],
      ["translations.x", { translations: { x: { title: "A" } } }],
    ] as const) {
      for (const work of [
        () => createProduct(ctx, { ...lamp, ...input } as never),
        () => replaceProduct(ctx, id, { ...lamp, ...input } as never, { ifMatch: null }),
        () => patchProduct(ctx, id, input as never, { ifMatch: null }),
      ]) {
        expect(await failureOf(work)).toMatchObject({ code: 5102, details: [{ field }] });
      }
    }
  });

  suite.testOnFile("variant services validate input that no schema has checked", async () => {
    const { id, variants } = parse(await createProduct(ctx, { ...lamp, variants: [{ title: "A" }] }));
    const variantId = (variants[0] as VariantReply).id;
    for (const [field, input] of [
      ["title", { title: " " }],
      ["sku", { sku: "\ud800" }],
      ["price", { price: -1 }],
      ["price", { price: 0.001 }],
      ["compare_at_price", { compare_at_price: Number.NaN }],
      ["stock", { stock: 0.5 }],
      ["options.size", { options: { size: "" } }],
      ["options", { options: { "\u00e9": "a", "e\u0301": "b" } }],
    ] as const) {
      for (const [prefix, work] of [
        ["variants.0.", () => createProduct(ctx, { ...lamp, variants: [{ title: "B", ...input } as never] })],
        ["", () => addVariant(ctx, id, { title: "B", ...input } as never)],
        ["", () => replaceVariant(ctx, { productId: id, variantId }, { title: "B", ...input } as never, null)],
        ["", () => patchVariant(ctx, { productId: id, variantId }, input as never, null)],
      ] as const) {
        expect(await failureOf(work)).toMatchObject({ code: 5102, details: [{ field: `${prefix}${field}` }] });
      }
    }
  });

  suite.testOnFile("every variant service works in its own tenant only", async () => {
    const foreign = await tenantContext(await suite.shop());
    const { id, variants } = parse(await createProduct(ctx, { ...lamp, variants: [{ title: "A", sku: "shared" }] }));
    const variantId = (variants[0] as VariantReply).id;
    for (const work of [
      () => listVariants(foreign, id),
      () => getVariant(foreign, { productId: id, variantId }),
      () => addVariant(foreign, id, { title: "B" }),
      () => replaceVariant(foreign, { productId: id, variantId }, { title: "B" }, null),
      () => patchVariant(foreign, { productId: id, variantId }, { stock: 1 }, null),
      () => deleteVariant(foreign, { productId: id, variantId }, null),
    ]) {
      expect(await failureOf(work)).toMatchObject({ code: 5301 });
    }
    expect(parse(await getProduct(ctx, id))).toMatchObject({ version: 1, variants });
    expect(parse(await createProduct(foreign, { ...lamp, variants: [{ title: "A", sku: "shared" }] })).version).toBe(1);
  });

  test("writes within one transaction commit or roll back together", async () => {
    const before = (await list(ctx)).length;
    const work = ctx.db.transaction(async (db) => {
      const inside = { ...ctx, db };
      const { id } = parse(await createProduct(inside, lamp));
      expect(parse(await getProduct(inside, id)).id).toBe(id);
      await createProduct(inside, { ...lamp, sku: "once" });
      await createProduct(inside, { ...lamp, sku: "once" });
    });
    expect(await failureOf(work)).toMatchObject({ code: 5302 });
    expect(await list(ctx)).toHaveLength(before);
  });
});
