import { beforeAll, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { openDatabase } from "../../src/server/db/open.ts";
import type { Examination } from "../../src/server/health/doctor.ts";
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

const surroundings = [
  ...["directory", "files", "disk", "database", "schema", "size", "server", "secret", "clock", "backups"],
  ...["mail", "stores", "accounts", "keys", "push", "webhooks"],
];
const records = [
  ...["states", "stock", "variants", "totals", "refunds", "numbers", "rewards", "points", "likes", "views", "counts"],
  "search",
];

test("a sound database is exit code 0, and everything is looked at", async () => {
  const { checked, ...report } = await json<Examination>("doctor");
  expect(report).toMatchObject({ ok: true, worst: "warning", drift: [], notes: [], database: { kind: "file" } });
  expect(checked).toEqual(expect.arrayContaining([...surroundings, ...records]));
  expect(await failure("doctor", "-n", "nobody")).toMatchObject({ error: { code: 5301 } });
});

test("where nothing is wrong, that is said, and -q says nothing", async () => {
  await json("user", "create", "-n", "other", "--email", "ada@example.com", "--role", "owner", "--random-password");
  await tamper(`insert into two_factor (user_id, tenant_id, secret, confirmed_at, created_at)
    select id, tenant_id, 's', 'a', 'a' from users`);
  expect(await run(["doctor", "-n", "other"])).toEqual({ code: 0, stdout: "", stderr: "Nothing is wrong.\n" });
  expect(await run(["doctor", "-n", "other", "-q"])).toEqual({ code: 0, stdout: "", stderr: "" });
});

test.each(["doctor", "doctor --fix"])(
  "a folder without a database is an error, and stays without: %s",
  async (words) => {
    const dir = join(makeDir(), "nothing");
    const { code, stdout } = await run([...words.split(" "), "--data-dir", dir]);
    expect(code).toBe(1);
    expect(stdout).toContain(`There is no folder ${dir}.`);
    expect(stdout).toContain(`  > bodega init --data-dir '${dir}'\n`);
    expect(existsSync(dir)).toBe(false);
  },
);

test("a log of nothing cannot be verified, and the folder stays without a database", async () => {
  const dir = join(makeDir(), "nothing");
  const { code, stdout, stderr } = await run(["audit", "verify", "--data-dir", dir]);
  expect({ code, stdout }).toEqual({ code: 3, stdout: "" });
  expect(stderr).toContain(`Database not found in ${dir}.`);
  expect(existsSync(dir)).toBe(false);
});

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
  expect(stdout).toMatch(/^stock +demo +prod_a +reserved +4 +0 +can be mended$/m);
  expect(stderr).toEndWith("Mend what can be with: bodega doctor --fix\n");
  expect(await json<unknown[]>("audit", "list", "--event", "doctor.fixed")).toEqual([]);

  const mended = await run(["doctor", "--fix"]);
  expect(mended.code).toBe(0);
  expect(mended.stdout.match(/ mended$/gm)).toHaveLength(2);
  expect(await json<Examination>("doctor", "--fix")).toMatchObject({ ok: true, drift: [] });
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
  expect(stripEscapes(screen)).toContain("Checking: ");
});

test("ctrl-C while a mail server keeps silent is exit code 130 at once, and the screen says what is waited for", async () => {
  const mute = createServer((socket) => socket.on("error", () => {}));
  await new Promise<void>((resolve) => mute.listen(0, "127.0.0.1", () => resolve()));
  const smtp = `smtp://127.0.0.1:${(mute.address() as { port: number }).port}`;
  const env = cli.environment({ BODEGA_SMTP_URL: smtp, BODEGA_MAIL_FROM: "shop@example.com" });
  const { code, screen } = await runAtTerminal(["doctor"], [["Checking: mail", "\u0003"]], { env });
  mute.close();
  expect(code).toBe(130);
  expect(stripEscapes(screen)).not.toContain("warning:");
});
