import { beforeAll, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { openDatabase } from "../../src/server/db/open.ts";
import type { DoctorReport } from "../../src/server/doctor.ts";
import { makeDir, openCli, runAtTerminal, stripEscapes } from "./run-bodega.ts";

const cli = openCli();
const { json, run, failure } = cli;

/** Does something to the file that the program itself never does. */
async function tamper(...statements: string[]): Promise<void> {
  const db = await openDatabase({ dataDir: cli.dataDir });
  for (const statement of statements) await db.execute(statement);
  await db.close();
}

const addProduct = (id: string, reserved: number) => `
  insert into products (id, tenant_id, title, slug, status, price_minor, currency, currency_digits, stock, reserved, lang, created_at, updated_at)
  select '${id}', id, 'Lamp', '${id}', 'published', 100, 'EUR', 2, 9, ${reserved}, 'en', 'a', 'a' from tenants where namespace = 'demo'`;
const addGap = `insert into orders (id, tenant_id, number, status, payment_status, fulfillment_status, currency,
  currency_digits, lang, created_at, updated_at, expires_at)
  select 'ord_late', id, 3, 'cancelled', 'unpaid', 'unfulfilled', 'EUR', 2, 'en', 'a', 'a', 'b' from tenants where namespace = 'demo'`;

beforeAll(async () => {
  await json("tenant", "create", "demo");
  await json("tenant", "create", "other");
});

test("a sound database is exit code 0, and says so", async () => {
  const names = [
    "states",
    "stock",
    "variants",
    "totals",
    "refunds",
    "numbers",
    "rewards",
    "points",
    "likes",
    "views",
    "counts",
    "search",
  ];
  expect(await json<DoctorReport>("doctor")).toEqual({
    ok: true,
    checked: ["database", ...names],
    drift: [],
    notes: [],
  });
  expect(await run(["doctor", "-n", "demo"])).toEqual({ code: 0, stdout: "", stderr: "Nothing is wrong.\n" });
  expect(await run(["doctor", "-q"])).toEqual({ code: 0, stdout: "", stderr: "" });
  expect(await failure("doctor", "-n", "nobody")).toMatchObject({ error: { code: 5301 } });
});

test.each(["doctor", "doctor --fix", "audit verify"])(
  "a folder without a database is not found, and stays without: %s",
  async (words) => {
    const dir = join(makeDir(), "nothing");
    const { code, stdout, stderr } = await run([...words.split(" "), "--data-dir", dir]);
    expect({ code, stdout }).toEqual({ code: 3, stdout: "" });
    expect(stderr).toContain(`There is no database in ${dir}.`);
    expect(existsSync(dir)).toBe(false);
  },
);

test("drift is exit code 1 until it is mended, and what is mended is written down once", async () => {
  await tamper(addProduct("prod_a", 4), "update products set is_indexed = 0");
  const drift = { namespace: "demo", record: "prod_a", fixable: true, fixed: false };
  const told = await run(["doctor", "--json"]);
  expect(told).toMatchObject({ code: 1, stderr: "" });
  expect(JSON.parse(told.stdout)).toMatchObject({
    ok: false,
    drift: [
      { check: "stock", field: "reserved", is: 4, should: 0, ...drift },
      { check: "search", field: "is_indexed", is: 0, should: 1, ...drift },
    ],
  });
  expect(await run(["doctor", "-n", "demo", "-q"])).toEqual({ code: 1, stdout: "prod_a\nprod_a\n", stderr: "" });
  expect(await run(["doctor", "-n", "other", "--fix"])).toMatchObject({ code: 0, stdout: "" });
  const { code, stdout, stderr } = await run(["doctor"]);
  expect(code).toBe(1);
  expect(stdout.split("\n")[1]).toMatch(/^stock +demo +prod_a +reserved +4 +0 +can be mended$/);
  expect(stderr).toBe("Mend what can be with: bodega doctor --fix\n");
  expect(await json<unknown[]>("audit", "list", "--event", "doctor.fixed")).toEqual([]);

  const mended = await run(["doctor", "--fix"]);
  expect(mended).toMatchObject({ code: 0, stderr: "" });
  expect(mended.stdout.match(/ mended$/gm)).toHaveLength(2);
  expect(await json<DoctorReport>("doctor", "--fix")).toMatchObject({ ok: true, drift: [] });
  expect(await json<unknown[]>("audit", "list", "--event", "doctor.fixed", "-n", "demo")).toMatchObject([
    { details: { check: "search", mended: 1 } },
    { details: { check: "stock", mended: 1 } },
  ]);
});

test("what cannot be mended stays exit code 1, with what to do", async () => {
  await tamper(
    addGap,
    addProduct("prod_b", 2),
    "pragma ignore_check_constraints = on",
    "update orders set payment_status = 'odd' where id = 'ord_late'",
  );
  // Without foreign keys, as migrations run.
  const db = await openDatabase({ dataDir: cli.dataDir });
  await db.client.migrate(["insert into order_numbers (tenant_id) values ('ten_gone')"]);
  await db.close();
  const { code, stdout, stderr } = await run(["doctor", "--fix"]);
  expect(code).toBe(1);
  expect(stdout).toMatch(/^numbers +demo +1-2 +number +missing +present +cannot be mended$/m);
  expect(stdout).toMatch(/^stock +demo +prod_b +reserved +2 +0 +mended$/m);
  expect(stdout).toMatch(/^database +- +file +integrity +CHECK constraint failed in orders +ok +cannot be mended$/m);
  expect(stdout).toMatch(/^database +- +order_numbers \d+ +tenants +missing +present +cannot be mended$/m);
  expect(stderr).toContain("numbers: Orders with these numbers have gone");
  const { code: again, screen } = await runAtTerminal(["doctor", "--fix"], [], { env: cli.environment() });
  expect(again).toBe(1);
  expect(stripEscapes(screen)).toContain("Checking: rewards");
});
