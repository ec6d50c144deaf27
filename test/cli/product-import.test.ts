import { beforeAll, describe, expect, test } from "bun:test";
import { readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { makeDir, openCli } from "./run-bodega.ts";

const { json, failure, here: run } = openCli();
const dir = makeDir();

/** Writes a file and returns its path. */
function fileOf(name: string, content: string | Uint8Array): string {
  const path = join(dir, name);
  writeFileSync(path, content);
  return path;
}

const importing = (path: string, ...flags: string[]) => run(["product", "import", "-n", "demo", path, ...flags]);

beforeAll(async () => {
  for (const [namespace, currency] of [
    ["demo", "EUR"],
    ["yen", "JPY"],
    ["dinar", "KWD"],
  ] as const) {
    await json("tenant", "create", namespace, "--currency", currency);
  }
});

test("files with a byte order mark, CRLF, semicolons or tabs are imported, and importing them again changes nothing", async () => {
  const files = [
    fileOf("semicolon.csv", '\uFEFFsku;title;price;description\r\nF1;One;19,99;"Two\r\nlines"\r\nF2;Plain;5;\r\n'),
    fileOf("tab.tsv", "sku\ttitle\tprice\nF3\tTab, comma\t1.5\n"),
    fileOf("lines.jsonl", '{"sku":"F4","title":"😀","price":3}\n\n{"sku":"F5","title":"x","price":4}'),
  ];
  for (const [index, path] of files.entries()) {
    const created = index === 1 ? 1 : 2;
    const counts = { updated: 0, failed: 0, dry_run: false, stopped: null, errors: [] };
    const args = ["product", "import", "-n", "demo", path];
    expect(await json(...args)).toMatchObject({ ...counts, created, unchanged: 0 });
    expect(await json(...args)).toMatchObject({ ...counts, created: 0, unchanged: created });
  }
});

test("an export can be imported only into stores with the same currency", async () => {
  for (const [namespace, price] of [
    ["yen", "1500"],
    ["dinar", "1.234"],
  ] as const) {
    const path = fileOf(`${namespace}.csv`, `sku,title,price\nA,A,${price}\n`);
    expect(await json("product", "import", "-n", namespace, path)).toMatchObject({ created: 1 });
    const { stdout } = await run(["product", "export", "-n", namespace]);
    expect(stdout).toContain(`,${price},`);
    const back = await run(["product", "import", "-n", namespace, "-", "--format", "csv", "--json"], { input: stdout });
    expect(JSON.parse(back.stdout)).toMatchObject({ unchanged: 1, created: 0, updated: 0 });
    const elsewhere = fileOf("elsewhere.csv", stdout.replaceAll(/^prod_\w+,/gm, ","));
    const { code, stderr } = await importing(elsewhere);
    expect([code, stderr]).toEqual([1, expect.stringContaining("line 2: currency: must be EUR")]);
  }
});

describe("an invalid row is reported with its line and field", () => {
  test.each([
    ["price: must have at most 2 decimals in this currency", "title,price", "Lamp,1.999"],
    ["price: must be a number", "title,price", "Lamp,1e3"],
    ["stock: must be a whole number, such as 20", "title,price,stock", "Lamp,1,many"],
    ["title: is required", "title,price", ",1"],
    ["title: must be a string", "title,price", `${"x".repeat(301)},1`],
    ["metadata: is not valid JSON", "title,price,metadata", "Lamp,1,{"],
    [
      "images: must be addresses without spaces",
      "title,price,images",
      'Lamp,1,"https://a.example/1, https://a.example/2"',
    ],
    ["images: must be an http", "title,price,images", "Lamp,1,ftp://x"],
    ["id: is not a product of this store", "id,title,price", "prod_1,Lamp,1"],
    ["title: cannot be removed. Leave the cell empty", "title,price", "-,1"],
    ["sku: is 4,00638E+12, a number that the spreadsheet has shortened", "title,price,sku", 'Lamp,1,"4,00638E+12"'],
    ["has 1 cells, but the header has 2 columns", "title,price", "Lamp"],
    ["variant_price: must have", "title,price,variant_title,variant_price", "Lamp,1,S,1.001"],
  ])("%s", async (message, header, row) => {
    const { code, stdout, stderr } = await importing(fileOf("bad.csv", `${header}\n\n${row}\n`), "--dry-run");
    expect(stderr).toContain(`line 3: ${message}`);
    expect(stdout).toMatch(/Failed +1/);
    expect(code).toBe(1);
  });
});

test("with decimal commas, a dot before three digits is refused as ambiguous", async () => {
  const path = fileOf("dots.csv", "sku;title;price\nD1;x;1.500\nD2;x;1.50\nD3;x;1500,5\nD4;x;-12.000\nD5;x;0.500\n");
  const { stdout, stderr } = await importing(path, "--on-error", "skip", "--dry-run");
  expect(stderr).toContain("line 2: price: is ambiguous. Write 1500 or 1,500");
  expect(stderr).toContain("line 5: price: is ambiguous. Write -12000 or -12,000");
  expect(stdout).toMatch(/Created +3\n(.*\n)*Failed +2/);
});

test("an import lists its first hundred errors and counts the others; a dry run lists all errors", async () => {
  const path = fileOf("faults.csv", `title,price\n${"Incomplete,\n".repeat(103)}`);
  const { stdout } = await importing(path, "--on-error", "skip", "--json");
  const { errors, ...counts } = JSON.parse(stdout);
  expect(errors).toHaveLength(100);
  expect(counts).toMatchObject({ failed: 103, errors_omitted: 3 });
  expect((await importing(path, "--on-error", "skip")).stderr).toContain("… and 3 more errors");
  expect((await importing(path, "--dry-run")).stderr.match(/line \d+: /g)).toHaveLength(103);
});

test.each([
  ["unknown.csv", "sku,titel\nA,B\n", 'unknown column "titel"'],
  ["twice.csv", "sku,sku\nA,B\n", "is repeated"],
  ["empty.csv", "", "is empty"],
  ["empty.ndjson", "\n\n", "is empty"],
  ["noending", "x", "--format"],
  [".", "", "--format"],
])("%s is refused before anything is written", async (name, content, message) => {
  const path = name === "." ? dir : fileOf(name, content);
  const { code, error } = await failure("product", "import", "-n", "demo", path);
  expect([code, `${error.message} ${error.remedy}`]).toEqual([2, expect.stringContaining(message)]);
});

test("an import reports a missing file, a directory and a binary file", async () => {
  expect(await failure("product", "import", "-n", "demo", join(dir, "none.csv"))).toMatchObject({ code: 2 });
  expect(await failure("product", "import", "-n", "demo", dir, "--format", "csv")).toMatchObject({ code: 2 });
  const { code, stderr } = await importing(fileOf("junk.csv", new Uint8Array([0, 255, 254, 10, 200, 0])));
  expect([code, stderr]).toEqual([1, expect.stringContaining("line 1: is not valid UTF-8")]);
});

test("an import checks the whole file, even from a pipe, before it saves anything, and a dry run lists all errors", async () => {
  const lines = ["sku,title,price", "W1,One,1", "W2,Two,none", "W3,Three,1", "W4,Four,-1"].join("\n");
  const path = fileOf("whole.csv", lines);
  const args = ["product", "import", "-n", "demo"];
  for (const [more, input] of [[[path]], [["-", "--format", "csv"], lines], [[path, "--dry-run"]]] as const) {
    const { code, stderr } = await run([...args, ...more], input === undefined ? {} : { input });
    const place = input === undefined ? `${path}, ` : "";
    expect(code).toBe(1);
    for (const line of [3, 5]) expect(stderr).toContain(`${place}line ${line}: price: must be a number`);
    expect(stderr).toContain(more.at(-1) === "--dry-run" ? "Dry run: nothing was saved." : "Nothing was saved.");
    expect(await failure("product", "show", "-n", "demo", "W1")).toMatchObject({ code: 3 });
  }
  const good = await run([...args, "-", "--format", "csv", "--json"], { input: "sku,title,price\nW1,One,1\n" });
  expect(JSON.parse(good.stdout)).toMatchObject({ created: 1 });
});

test("the printed template can be imported unchanged", async () => {
  const { stdout } = await run(["product", "import", "-n", "demo", "--template"]);
  expect(stdout).toStartWith("sku,title,description,status,price,");
  expect(await json("product", "import", "-n", "demo", fileOf("template.csv", stdout))).toMatchObject({ created: 1 });
});

test("an export with selected columns can be edited and imported, even if the stock has changed meanwhile; a dry run lists the changes", async () => {
  await json("tenant", "create", "prices");
  const shirt = { title: "Shirt", price: 9, variants: [{ options: { size: "S" }, sku: "TS-S", stock: 5 }] };
  const input = [shirt, { title: "Mug", price: 4, sku: "MUG", stock: 5 }]
    .map((line) => JSON.stringify(line))
    .join("\n");
  await run(["product", "import", "-n", "prices", "-", "--format", "ndjson"], { input });
  const exported = async (columns: string) =>
    (await run(["product", "export", "-n", "prices", "--columns", columns])).stdout;
  const csv = await exported("title, price,variant_price");
  expect(csv).toMatch(/^id,title,price,variant_id,variant_price\nprod_\w+,Shirt,9,var_\w+,-\nprod_\w+,Mug,4,,\n$/);
  const { error } = await failure(
    "product",
    "export",
    "-n",
    "prices",
    "-o",
    join(dir, "c.csv"),
    "--columns",
    "title,prise",
  );
  expect(error.message).toContain("unknown column: prise");
  for (const name of ["MUG", "TS-S"]) await json("product", "stock", "-n", "prices", name, "-4");
  const path = fileOf("prices.csv", `${csv},Pen,2,,\n`.replace(",Mug,4", ",Mug,3").replace("Shirt,9,", "Shirt,8,"));
  const args = ["product", "import", "-n", "prices", path];
  const { stderr } = await run([...args, "--dry-run"]);
  expect(stderr).toBe(
    "line 2: updates price of Shirt\nline 3: updates price of Mug\nline 4: creates Pen\nDry run: nothing was saved.\n",
  );
  expect((await run([...args, "--dry-run", "-q"])).stderr).toBe("");
  expect(await json(...args)).toMatchObject({ updated: 2, changes: [{}, {}, { line: 4, title: "Pen", fields: null }] });
  const list = await json<{ title: string; price: number; stock: number | null }[]>("product", "list", "-n", "prices");
  expect(list.map(({ title, price, stock }) => [title, price, stock])).toEqual([
    ["Pen", 2, null],
    ["Mug", 3, 1],
    ["Shirt", 8, 1],
  ]);
});

test.each(["SIGTERM", "SIGINT"] as const)("%s during an export leaves no files", async (signal) => {
  const folder = makeDir();
  const script = `
    const { openTerminal } = await import("${join(import.meta.dir, "../../src/cli/terminal/terminal.ts")}");
    const { writeExport } = await import("${join(import.meta.dir, "../../src/cli/terminal/export-file.ts")}");
    async function* pages() {
      console.log("begun");
      await Bun.sleep(60_000);
    }
    await writeExport(openTerminal(process), { output: "half.csv", header: "id\\n", noun: "products", pages: pages() });`;
  const child = Bun.spawn([process.execPath, "-e", script], { cwd: folder, stdout: "pipe", stderr: "inherit" });
  const { value } = await child.stdout.getReader().read();
  expect([new TextDecoder().decode(value), readdirSync(folder).length]).toEqual(["begun\n", 1]);
  child.kill(signal);
  expect(await child.exited).toBe(signal === "SIGINT" ? 130 : 143);
  expect(readdirSync(folder)).toEqual([]);
});
