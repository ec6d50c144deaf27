import { beforeAll, expect, test } from "bun:test";
import type { Ctx } from "../../src/server/context.ts";
import { createProduct, patchProduct, replaceProduct } from "../../src/server/modules/catalogue/products/service.ts";
import { addVariant, patchVariant } from "../../src/server/modules/catalogue/variants/variants.ts";
import { type ProductReply, type Shop, tenantContext, type VariantReply } from "../support/factories.ts";
import { failureOf } from "../support/failure.ts";
import { onDatabase } from "../support/suite.ts";

const lamp = { title: "Lamp", price: 1 };
onDatabase("file", (suite) => {
  let shop: Shop;
  let ctx: Ctx;
  beforeAll(async () => {
    shop = await suite.shop();
    ctx = await tenantContext(shop);
  });
  const parse = ({ json }: { json: string }) => JSON.parse(json) as ProductReply;

  test("the product service validates input that no schema has checked", async () => {
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

  test("the variant service validates input that no schema has checked", async () => {
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
        ["", () => patchVariant(ctx, { productId: id, variantId }, input as never, null)],
      ] as const) {
        expect(await failureOf(work)).toMatchObject({ code: 5102, details: [{ field: `${prefix}${field}` }] });
      }
    }
  });
});
