import { expect, test } from "bun:test";
import type { Ctx } from "../../src/server/context.ts";
import { createCategory } from "../../src/server/modules/catalogue/categories/service.ts";
import { listProducts } from "../../src/server/modules/catalogue/list/list.ts";
import { createProduct } from "../../src/server/modules/catalogue/products/service.ts";
import { readCsv } from "../../src/server/modules/catalogue/transfer/csv-read.ts";
import { csvFormat, exportProducts } from "../../src/server/modules/catalogue/transfer/export.ts";
import { importProducts } from "../../src/server/modules/catalogue/transfer/import.ts";
import { readNdjson } from "../../src/server/modules/catalogue/transfer/import-item.ts";
import { tenantContext } from "../support/factories.ts";
import { onEachDatabase } from "../support/suite.ts";

async function* whole(text: string): AsyncGenerator<string> {
  yield text;
}

const run = (ctx: Ctx, items: Parameters<typeof importProducts>[1]) =>
  importProducts(ctx, items, { onError: "stop", isDryRun: false });

const inCategory = async (ctx: Ctx, category: string) =>
  (JSON.parse((await listProducts(ctx, { category })).json) as { slug: string }[]).map(({ slug }) => slug);

onEachDatabase((suite) => {
  test("an export names categories by slug, and an import into another store finds its categories", async () => {
    const [from, csv, ndjson] = await Promise.all([0, 1, 2].map(async () => tenantContext(await suite.shop())));
    for (const ctx of [from, csv, ndjson] as Ctx[]) {
      for (const title of ["Lamps", "Sale | new"]) await createCategory(ctx, { title });
    }
    await createProduct(from as Ctx, { title: "Torch", price: 3, category_ids: ["lamps", "sale-new"] });
    await createProduct(from as Ctx, { title: "Chair", price: 3 });
    const { header, render } = csvFormat(["title", "slug", "price", "categories"]);
    const rows: string[] = [];
    for await (const page of exportProducts(from as Ctx)) rows.push(...page);
    const table = header + rows.map(render).join("");
    expect(table).toContain("lamps|sale-new");
    const documents = rows.map((row) => ({ ...JSON.parse(row), id: undefined }));
    expect(documents.map(({ categories }) => categories)).toEqual([["lamps", "sale-new"], []]);
    const csvText = table.replace(/prod_\w+/g, "");
    for (const ctx of [csv, ndjson] as Ctx[]) {
      const read = () =>
        ctx === csv
          ? readCsv(whole(csvText))
          : readNdjson(whole(documents.map((one) => JSON.stringify(one)).join("\n")));
      expect(await run(ctx, read())).toMatchObject({ created: 2, errors: [] });
      expect(await inCategory(ctx, "lamps")).toEqual(["torch"]);
      expect(await run(ctx, read())).toMatchObject({ unchanged: 2, errors: [] });
    }
  });

  test("a line with a category that does not exist is an error that names its place", async () => {
    const ctx = await tenantContext(await suite.shop());
    const result = await run(ctx, readCsv(whole("title,price,categories\nTorch,3,lamps\n")));
    expect(result.errors).toEqual([expect.objectContaining({ line: 2, field: "categories" })]);
  });

  test("a line with too many categories is refused before any of them is created", async () => {
    const ctx = await tenantContext(await suite.shop());
    const importTorch = (names: string[]) =>
      run(ctx, readCsv(whole(`Type,Name,Regular price,Categories\nsimple,Torch,3,"${names.join(", ")}"\n`)));
    const { errors } = await importTorch(Array.from({ length: 51 }, (_, n) => `Shelf ${n}`));
    expect(errors).toEqual([{ line: 2, field: "categories", message: expect.stringContaining("at most 50") }]);
    expect(await importTorch(Array(50).fill("Shelf"))).toMatchObject({ created: 1, errors: [] });
  });
});
