import { beforeAll, expect, test } from "bun:test";
import { openCli } from "./run-bodega.ts";

const { json, failure, here: run } = openCli();

interface Product {
  product_id: string;
  title: string;
  slug: string;
}

const ndjson = (...lines: object[]) => lines.map((line) => JSON.stringify(line)).join("\n");
const titles = async (...flags: string[]) =>
  (await json<Product[]>("product", "list", "-n", "demo", ...flags)).map(({ title }) => title);

beforeAll(async () => {
  for (const namespace of ["demo", "other"]) await json("tenant", "create", namespace);
  const oak = { title: "Oak", sku: "TABLE-OAK", options: { wood: "oak" }, stock: 3 };
  const input = ndjson(
    { title: "Desk lamp", price: 19.9, sku: "LAMP-1", stock: 7, tags: ["light"] },
    { title: "Table", price: 240, status: "draft", variants: [oak] },
    { title: "Chair", price: 49 },
  );
  const { code, stderr } = await run(["product", "import", "-n", "demo", "--format", "ndjson", "-"], { input });
  expect({ code, stderr: stderr.includes("error") }).toEqual({ code: 0, stderr: false });
});

test("product list prints a table or JSON, filtered by words, status and limit, in the requested order", async () => {
  const { stdout } = await run(["product", "list", "-n", "demo", "--sort", "title"]);
  const [header, chair, lamp, table] = stdout.trimEnd().split("\n");
  expect(header).toMatch(/^TITLE +SKU +PRICE +STOCK +STATUS +VARIANTS$/);
  expect(chair).toMatch(/^Chair +- +49\.00 EUR +not counted +published +0$/);
  expect(lamp).toMatch(/^Desk lamp +LAMP-1 +19\.90 EUR +7 +published +0$/);
  expect(table).toMatch(/^Table +- +240\.00 EUR +3 +draft +1$/);
  expect(await titles("--query", "lam")).toEqual(["Desk lamp"]);
  expect(await titles("--status", "draft")).toEqual(["Table"]);
  expect(await titles("--sort=-price", "--limit", "2")).toEqual(["Table", "Chair"]);
  const short = await run(["product", "list", "-n", "demo", "--limit", "2"]);
  expect(short.stderr).toContain("The list ends at the limit of 2 rows.");
  expect((await run(["product", "list", "-n", "demo", "-q"])).stdout).toMatch(/^(prod_\w{26}\n){3}$/);
  expect(await json<Product[]>("product", "list", "-n", "other")).toEqual([]);
  expect((await run(["product", "list", "-n", "other"])).stderr).toContain("bodega product import -n other");
});

test("product show accepts id, slug or SKU of a product, or id or SKU of a variant, and prints the variants", async () => {
  const lamp = await json<Product>("product", "show", "-n", "demo", "LAMP-1");
  expect(lamp).toMatchObject({ title: "Desk lamp", slug: "desk-lamp", tags: ["light"] });
  for (const name of [lamp.product_id, lamp.slug]) {
    expect(await json<Product>("product", "show", "-n", "demo", name)).toEqual(lamp);
  }
  const { stdout } = await run(["product", "show", "-n", "demo", "TABLE-OAK"]);
  expect(stdout).toMatch(/^Title +Table$/m);
  expect(stdout).toMatch(/^Price +240\.00 EUR$/m);
  const [, variant = ""] = /^(var_\w{26}) +Oak +240\.00 EUR +3 +TABLE-OAK$/m.exec(stdout) ?? [];
  expect(await json<Product>("product", "show", "-n", "demo", variant)).toMatchObject({ title: "Table" });
  expect((await run(["product", "show", "-n", "demo", "LAMP-1", "-q"])).stdout).toBe(`${lamp.product_id}\n`);
});

test("product update and delete refuse a variant, because they change the whole product", async () => {
  const show = () => json("product", "show", "-n", "demo", "TABLE-OAK");
  const before = await show();
  for (const words of [
    ["update", "TABLE-OAK", "--price", "3"],
    ["delete", "TABLE-OAK", "--yes"],
  ]) {
    const { code, error } = await failure("product", ...words, "-n", "demo");
    expect([code, error.message]).toEqual([2, "<product> is one variant of a product (TABLE-OAK)."]);
  }
  expect(await show()).toEqual(before);
});

test("a product of another tenant is not found, and a misspelt one gets suggestions from its own tenant only", async () => {
  expect(await failure("product", "show", "-n", "other", "LAMP-1")).toMatchObject({ code: 3, error: { code: 5301 } });
  expect((await failure("product", "show", "-n", "demo", "desk-lmap")).error.remedy).toContain(
    "Did you mean desk-lamp?",
  );
  expect((await failure("product", "show", "-n", "other", "desk-lmap")).error.remedy).not.toContain("Did you mean");
});

test("a price may have a decimal comma, unless the comma could separate thousands", async () => {
  const args = ["product", "create", "-n", "other", "--title", "Priced", "--price"];
  expect(await json<object>(...args, "12,50")).toMatchObject({ price: 12.5 });
  for (const text of ["1,500", "1,2,3"]) {
    expect((await failure(...args, text)).error.message).toContain("must be a number with a point");
  }
});

test("slugs of a German store use German spelling, and the error for an unknown category suggests a similar one", async () => {
  await json("tenant", "create", "laden", "--language", "de-AT");
  expect(await json<object>("category", "create", "-n", "laden", "--title", "Drücke")).toMatchObject({
    slug: "druecke",
  });
  const args = ["product", "create", "-n", "laden", "--title", "Größe", "--price", "1"];
  expect(await json<object>(...args)).toMatchObject({ slug: "groesse" });
  const { error } = await failure(...args, "--category", "Drücke");
  expect(error.message).toStartWith("--category");
  expect(error.message).toContain('is not a category of this store: "Drücke"; did you mean druecke?');
});

test("product create and update set the former price, tags and translations; translations also work for a category", async () => {
  const sale = ["--compare-at-price", "20", "--tag", "new", "--tag", "sale", "--title-in", "de=Becher"];
  const args = ["-n", "other", "--title", "Beaker", "--price", "12", "--sku", "BEAKER"];
  const expected = { compare_at_price: 20, tags: ["new", "sale"], translations: { de: { title: "Becher" } } };
  expect(await json<object>("product", "create", ...args, ...sale)).toMatchObject(expected);
  const change = ["--compare-at-price=", "--tag", "old", "--title-in", "de=", "--description-in", "fr=Un verre"];
  const more = ["--price", "18", "--sku=", "--status", "draft"];
  const changed = await json<object>("product", "update", "-n", "other", "BEAKER", ...change, ...more);
  expect(changed).toMatchObject({ compare_at_price: null, tags: ["old"], price: 18, sku: null, status: "draft" });
  expect((changed as { translations: object }).translations).toMatchObject({ fr: { description: "Un verre" } });
  await json("category", "create", "-n", "other", "--title", "Glasses");
  const category = await json<object>("category", "update", "-n", "other", "glasses", "--title-in", "de=Gläser");
  expect(category).toMatchObject({ translations: { de: { title: "Gläser" } } });
  expect(await failure("category", "update", "-n", "other", "glasses", "--title-in", "Gläser")).toMatchObject({
    code: 2,
  });
});

test("product create and update accept variants; update finds existing variants by SKU or options", async () => {
  const args = ["-n", "other", "--title", "Tee", "--price", "10"];
  const variants = ["--variant", "size=S,sku=TEE-S,stock=4", "--variant", "size=L, color=red , price=14,50,stock=3"];
  expect(await json<object>("product", "create", ...args, ...variants)).toMatchObject({
    stock: 7,
    variants: [
      { title: "S", sku: "TEE-S", price: 10, stock: 4 },
      { title: "L / red", options: { size: "L", color: "red" }, price: 14.5, stock: 3 },
    ],
  });
  const change = ["--variant", "sku=TEE-S,stock=9,price=8", "--variant", "size=L,color=red,stock=1"];
  const update = ["product", "update", "-n", "other", "tee"];
  expect(await json<object>(...update, ...change, "--variant", "size=XL")).toMatchObject({
    variants: [{ price: 8, stock: 9 }, { price: 14.5, stock: 1 }, { title: "XL" }],
  });
  expect((await failure(...update, "--variant", "size")).error.message).toContain("--variant must be like size=L");
  expect((await failure(...update, "--variant", "size=M,stock=x")).error.message).toContain("--variant stock");
  expect((await failure("product", "create", ...args, "--variant", "size=S,sku=TEE-S")).error.message).toBe(
    '--variant sku "TEE-S" is taken by product tee',
  );
  const tooMany = Array.from({ length: 101 }, (_, size) => ["--variant", `size=${size}`]).flat();
  expect((await failure("product", "create", ...args, ...tooMany)).error.message).toContain("at most 100 variants");
});

test("product delete needs a confirmation; product restore accepts id, slug or SKU, or says what to change first", async () => {
  const beaker = ["--title", "Old beaker", "--price", "12", "--sku", "OLD-1"];
  const { product_id: id } = await json<Product>("product", "create", "-n", "other", ...beaker);
  const remove = ["product", "delete", "-n", "other", "OLD-1"];
  expect((await failure(...remove)).error.remedy).toBe("Delete product old-beaker (Old beaker)?");
  expect((await run([...remove, "--yes"])).stderr).toContain(`To bring it back: bodega product restore -n other ${id}`);
  const restore = ["product", "restore", "-n", "other"];
  expect((await failure(...restore, "old")).error).toMatchObject({ code: 5301, remedy: "Deleted last: old-beaker" });
  await json("product", "create", "-n", "other", "--title", "Old beaker", "--price", "1");
  expect((await failure(...restore, "old-1")).error).toMatchObject({
    code: 5302,
    message: 'Product "old-1" cannot be restored: another product has its slug.',
    remedy: "Change the slug of the other product first: bodega product update",
  });
  await json("product", "update", "-n", "other", "old-beaker", "--slug", "new-beaker");
  expect(await json<Product>(...restore, "old-1")).toMatchObject({ product_id: id, slug: "old-beaker" });
});
