import { expect, test } from "bun:test";
import { createCategory, deleteCategory } from "../../src/server/modules/catalogue/categories/service.ts";
import { listProducts } from "../../src/server/modules/catalogue/list/list.ts";
import { restoreProduct } from "../../src/server/modules/catalogue/products/restore.ts";
import { createProduct, deleteProduct } from "../../src/server/modules/catalogue/products/service.ts";
import { deleteVariant } from "../../src/server/modules/catalogue/variants/variants.ts";
import { addPicture, purgePictures, unusedMs } from "../../src/server/modules/media/service.ts";
import { type ProductReply, tenantContext } from "../support/factories.ts";
import { failureOf } from "../support/failure.ts";
import { newPng } from "../support/pictures.ts";
import { findInconsistencies } from "../support/record-check.ts";
import { onEachDatabase } from "../support/suite.ts";

const parse = ({ json }: { json: string }) => JSON.parse(json) as ProductReply;

onEachDatabase((suite) => {
  const { onFile } = suite;
  test("a restored product has all its earlier data, except what was deleted before or meanwhile", async () => {
    const ctx = await tenantContext(await suite.shop());
    const picture = await addPicture(ctx, newPng());
    const [gone, kept] = [
      parse(await createCategory(ctx, { title: "Gone" })),
      parse(await createCategory(ctx, { title: "Kept" })),
    ];
    const made = parse(
      await createProduct(ctx, {
        title: "Zanzibar shirt",
        price: 9,
        images: [{ media_id: picture.id }, { url: "https://example.com/1.png" }],
        category_ids: [gone.id, kept.id],
        variants: [
          { options: { size: "S" }, sku: "Z-S", stock: 3 },
          { options: { size: "M" }, sku: "Z-M" },
        ],
      }),
    );
    await deleteVariant(ctx, { productId: made.id, variantId: made.variants[1]?.id as string }, null);
    suite.app.clock.advance(1000);
    await deleteProduct(ctx, made.id, null);
    await deleteCategory(ctx, gone.id, null);
    await purgePictures({ db: ctx.db, now: () => ctx.now() + unusedMs + 60_000 });
    const restored = parse(await restoreProduct(ctx, made.id));
    expect(restored).toMatchObject({ slug: "zanzibar-shirt", status: "published", category_ids: [kept.id] });
    expect(restored.images.map(({ url }) => url)).toEqual(["https://example.com/1.png"]);
    expect(restored.variants).toMatchObject([{ sku: "Z-S", stock: 3 }]);
    const found = JSON.parse((await listProducts(ctx, { q: "zanzibar" })).json) as ProductReply[];
    expect(found.map(({ id }) => id)).toEqual([made.id]);
    const { rows } = await ctx.db.execute({
      sql: "select type from events where subject = ? order by sequence",
      args: [made.id],
    });
    const types = rows.map(({ type }) => type);
    expect([types[0], types.at(-2), types.at(-1)]).toEqual(["product.created", "product.deleted", "product.created"]);
    expect((await findInconsistencies(ctx)).inconsistencies).toEqual([]);
  });

  onFile("a product cannot be restored if another product or a variant now has its slug or SKU", async () => {
    const ctx = await tenantContext(await suite.shop());
    const { id } = parse(
      await createProduct(ctx, { title: "Cup", price: 1, variants: [{ title: "Red", sku: "C-1" }] }),
    );
    await deleteProduct(ctx, id, null);
    const other = parse(await createProduct(ctx, { title: "Cup", price: 2 }));
    expect(await failureOf(restoreProduct(ctx, "cup"))).toMatchObject({
      code: 5302,
      message: 'Product "cup" cannot be restored: another product has its slug.',
    });
    await deleteProduct(ctx, other.id, null);
    const taker = parse(await createProduct(ctx, { title: "Glass", price: 2, sku: "C-1" }));
    expect(String(await failureOf(restoreProduct(ctx, id)))).toContain("another product has its SKU");
    await deleteProduct(ctx, taker.id, null);
    expect(parse(await restoreProduct(ctx, id)).variants).toMatchObject([{ sku: "C-1" }]);
    expect(await failureOf(restoreProduct(ctx, id))).toMatchObject({ code: 5301 });
    const elsewhere = await tenantContext(await suite.shop());
    expect(await failureOf(restoreProduct(elsewhere, other.id))).toMatchObject({ code: 5301 });
  });
});
