import { beforeAll, describe, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { makeDir, openCli } from "./run-bodega.ts";

const { json, failure, here: run, run: runProcess } = openCli();
const demo = ["-n", "demo"];
const dir = makeDir();
const header =
  "zone,countries,postcodes,name,name_de,price,free_from,min_value,max_value,min_weight_g,max_weight_g,tax_class";

interface Rate {
  id: string;
  zone: string;
  name: string;
  price: number;
}

function fileOf(...lines: string[]): string {
  const path = join(dir, `${crypto.randomUUID()}.csv`);
  writeFileSync(path, `${lines.join("\n")}\n`);
  return path;
}

const setShipping = (...lines: string[]) => json<Rate[]>("shipping", "set", ...demo, fileOf(header, ...lines));
const setTaxes = (...lines: string[]) =>
  json<object[]>("tax", "set", ...demo, fileOf("class,country,region,rate", ...lines));
const refused = async (noun: string, ...lines: string[]) => {
  const { code, error } = await failure(noun, "set", ...demo, fileOf(...lines));
  return [code, error.message];
};
const germany = "Germany,DE,,Standard,Versand,5.95,50,,,,10000,";
const islands = "Islands,DE,25859 18565,Ferry,,15.50,,,,,,reduced";
const everywhere = "World,*,,Letter,,9,,,,,500,";

beforeAll(async () => {
  await json("tenant", "create", "demo", "--country", "DE");
});

describe("shipping set", () => {
  test("shipping set replaces all rates, keeps the ids of unchanged rates, and prints the rates in their order", async () => {
    const rates = await setShipping(germany, islands, everywhere);
    expect(rates).toMatchObject([
      { zone: "Germany", countries: ["DE"], name: "Standard", price: 5.95, free_from: 50, max_weight_g: 10_000 },
      { zone: "Islands", countries: ["DE"], postcodes: ["25859", "18565"], price: 15.5, tax_class: "reduced" },
      { zone: "World", countries: ["*"], price: 9, max_weight_g: 500, tax_class: null },
    ]);
    const [kept, ...others] = await setShipping(germany.replace("5.95", "6.50"));
    expect([kept?.id, kept?.price, others]).toEqual([rates[0]?.id, 6.5, []]);
    expect((await run(["shipping", "show", ...demo, "-q"])).stdout).toBe(`${kept?.id}\n`);
    expect(await json<Rate[]>("shipping", "show", ...demo)).toEqual([kept as Rate]);
  });

  test("shipping set reads standard input, and prints a table for people", async () => {
    const input = `${header}\n${germany}\nWorld,*,,Letter,,9,,10,49.5,250,,\n`;
    const { code, stdout } = await run(["shipping", "set", ...demo, "-"], { input });
    expect(code).toBe(0);
    const bounds = "PRICE +FREE FROM +MIN VALUE +MAX VALUE +MIN WEIGHT G +MAX WEIGHT G +TAX CLASS";
    expect(stdout).toMatch(new RegExp(`^ZONE +COUNTRIES +POSTCODES +NAME +${bounds}\n`));
    expect(stdout).toMatch(/^Germany +DE +none +Standard +5\.95 EUR +50\.00 EUR +- +- +- +10000 +-$/m);
    expect(stdout).toMatch(/^World +\* +none +Letter +9\.00 EUR +- +10\.00 EUR +49\.50 EUR +250 +- +-$/m);
  });

  test("shipping set refuses a file that is not UTF-8 with line and column, and changes nothing", async () => {
    await setShipping(germany);
    const before = await json<Rate[]>("shipping", "show", ...demo);
    const path = fileOf();
    const text = `${header}\n${everywhere}\nZürich,CH,,Post,,9,,,,,,\n`;
    writeFileSync(path, text, "latin1");
    const message = "line 3, zone: is not valid UTF-8. Save the file as UTF-8 and try again. Nothing was changed.";
    const refusal = { code: 2, error: { message } };
    expect(await failure("shipping", "set", ...demo, path)).toMatchObject(refusal);
    const piped = await run(["shipping", "set", ...demo, "-"], { input: Buffer.from(text, "latin1") });
    expect([piped.code, piped.stderr]).toEqual([2, expect.stringContaining("line 3, zone: is not valid UTF-8")]);
    writeFileSync(path, "class,country,rate\nermäßigt,DE,7\n", "latin1");
    expect((await failure("tax", "set", ...demo, path)).error.message).toStartWith("line 2, class: is not valid UTF-8");
    expect(await json<Rate[]>("shipping", "show", ...demo)).toEqual(before);
  });

  test("shipping set refuses a file or an input of more than 1 MiB, and changes nothing", async () => {
    await setShipping(germany);
    const before = await json<Rate[]>("shipping", "show", ...demo);
    const text = `${header}\n${`${everywhere}\n`.repeat(50_000)}`;
    const path = fileOf(text);
    const { code, stderr } = await run(["shipping", "set", ...demo, path]);
    expect([code, stderr]).toEqual([2, expect.stringContaining(`<file> is larger than 1 MiB: ${path}.`)]);
    const piped = await runProcess(["shipping", "set", ...demo, "-"], { input: text });
    expect([piped.code, piped.stderr]).toEqual([2, expect.stringContaining("Standard input is longer than 1 MiB.")]);
    expect(await json<Rate[]>("shipping", "show", ...demo)).toEqual(before);
  });

  test("shipping set refuses a wrong line and a path that is not a file", async () => {
    expect(await refused("shipping", header, "Germany,DE")).toEqual([2, "line 2: has 2 cells, but line 1 has 12."]);
    const missing = await failure("shipping", "set", ...demo, join(dir, "none.csv"));
    expect([missing.code, missing.error.message]).toEqual([2, `<file> does not exist: ${join(dir, "none.csv")}.`]);
    const folder = await failure("shipping", "set", ...demo, dir);
    expect([folder.code, folder.error.message]).toEqual([2, expect.stringContaining("<file> cannot be read")]);
  });
});

describe("tax set", () => {
  test("tax set replaces all rates, and shows them in percent", async () => {
    expect(await setTaxes("standard,DE,,19", "reduced,DE,,7", "standard,FR,,20", "reduced,FR,,5.5")).toHaveLength(4);
    const { stdout } = await run(["tax", "show", ...demo]);
    expect(stdout).toMatch(/^COUNTRY +CLASS +RATE\n/);
    expect(stdout).toMatch(/^FR +reduced +5\.5 %$/m);
    const quiet = (await run(["tax", "show", ...demo, "-q"])).stdout.trim().split("\n");
    expect(quiet.toSorted()).toEqual(["DE:reduced", "DE:standard", "FR:reduced", "FR:standard"]);
    expect(await setTaxes("standard,DE,,19")).toEqual([{ class: "standard", country: "DE", rate: 19 }]);
  });
});

test("tax and shipping commands name the countries that a store ships to without a tax rate", async () => {
  await setTaxes("standard,DE,,19");
  const warning = "warning: The store has no tax rate for these countries, and ships there without tax: CH, FR.\n";
  const zones = fileOf("zone,countries,name,price", "Europe,DE FR CH,Standard,5");
  expect((await run(["shipping", "set", ...demo, zones])).stderr).toBe(warning);
  expect((await run(["shipping", "show", ...demo])).stderr).toBe(warning);
  expect((await run(["tax", "show", ...demo])).stderr).toBe(warning);
  const taxes = ["class,country,rate", "standard,DE,19", "standard,FR,20", "standard,CH,0"];
  expect((await run(["tax", "set", ...demo, fileOf(...taxes)])).stderr).toBe("");
  const books = fileOf("zone,countries,name,price,tax_class", "Europe,DE FR CH,Standard,5,reduced");
  expect((await run(["shipping", "set", ...demo, books])).stderr).toContain("CH (reduced), DE (reduced), FR (reduced)");
  expect((await run(["tax", "set", ...demo, fileOf(...taxes, "reduced,DE,7", "reduced,FR,5.5")])).stderr).toContain(
    "there without tax: CH (reduced).",
  );
});

test("for a store without rates, tax show says that orders have no tax, and shipping show that orders ship for 0", async () => {
  await json("tenant", "create", "empty");
  expect((await run(["shipping", "show", "-n", "empty"])).stderr).toBe(
    "No shipping rates: orders ship for 0. Set them: bodega shipping set -n empty rates.csv\n",
  );
  expect((await run(["tax", "show", "-n", "empty"])).stderr).toBe(
    "No tax rates: orders have no tax. Set them: bodega tax set -n empty taxes.csv\n",
  );
  expect(await failure("tax", "show", "-n", "nobody")).toMatchObject({ code: 3 });
});
