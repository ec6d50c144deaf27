import { beforeEach, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { openStoreDatabase } from "../../src/server/admin/open-database.ts";
import type { Report } from "../../src/server/health/doctor.ts";
import { openCli, runAtTerminal, stripEscapes } from "./run-bodega.ts";

type Cli = ReturnType<typeof openCli>;

/** Runs commands on the data directory of the current test. */
let cli: Cli;
let json: Cli["json"];
let run: Cli["here"];
let failure: Cli["failure"];

/** Changes the database in a way in which the program itself never changes it. */
async function tamper(...statements: string[]): Promise<void> {
  const db = await openStoreDatabase({ dataDir: cli.dataDir });
  for (const statement of statements) await db.execute(statement);
  await db.close();
}

const addProduct = (id: string, reserved: number) => `
  insert into products (id, tenant_id, title, slug, status, price_minor, currency, currency_digits, stock, reserved, lang, created_at, updated_at)
  select '${id}', id, 'Lamp', '${id}', 'published', 100, 'EUR', 2, 9, ${reserved}, 'en', 'a', 'a' from tenants where namespace = 'demo'`;
const addGap = `insert into orders (id, tenant_id, number, status, payment_status, fulfillment_status, currency,
  currency_digits, lang, created_at, updated_at, expires_at)
  select 'ord_late', id, 3, 'cancelled', 'unpaid', 'unfulfilled', 'EUR', 2, 'en', 'a', 'a', 'b' from tenants where namespace = 'demo'`;

beforeEach(async () => {
  cli = openCli();
  ({ json, here: run, failure } = cli);
  await json("tenant", "create", "demo");
  await json("tenant", "create", "other");
});

const environment =
  "directory files disk server secret clock backups mail tls address stores taxes accounts keys outbox webhooks".split(
    " ",
  );
const database = ["file", "text", "integrity", "references", "schema"];
const records =
  "states stock variants replies totals pieces numbers rewards points resources counts pictures search".split(" ");

test("doctor runs all checks and ends with exit code 0 for an intact database", async () => {
  const { checked, ...report } = await json<Report>("doctor");
  expect(report).toMatchObject({ ok: true, worst: "warning" });
  expect(report.findings.filter(({ group }) => group !== "environment")).toEqual([]);
  expect(checked).toEqual(expect.arrayContaining([...environment, ...database, ...records]));
  expect(await failure("doctor", "-n", "nobody")).toMatchObject({ error: { code: 5301 } });
});

test("doctor checks a single store only with -n; BODEGA_NAMESPACE does not restrict the checks", async () => {
  const only = ["doctor", "--json", "--only", "disk"];
  const { stdout } = await run(only);
  expect((JSON.parse(stdout) as Report).checked).toContain("disk");
  expect(await run(only, { env: { BODEGA_NAMESPACE: "demo" } })).toMatchObject({ stdout });
  writeFileSync(join(cli.dataDir, "bodega.env"), "BODEGA_NAMESPACE=demo\n", { mode: 0o600 });
  expect(await run(only)).toMatchObject({ stdout });
});

test("--only and --ignore choose the checks; an unknown check ends with exit code 2 and the names of all checks", async () => {
  await tamper(addProduct("prd_low", 9), addGap, "delete from product_search");
  const only = await run(["doctor", "--json", "--only", "stock,mail", "--only", "search"]);
  const { checked, findings } = JSON.parse(only.stdout) as Report;
  expect({ code: only.code, checked }).toEqual({
    code: 1,
    checked: ["directory", "file", "schema", "mail", "stock", "search"],
  });
  expect(new Set(findings.map(({ check }) => check))).toEqual(new Set(["mail", "stock", "search"]));
  const others = await run(["doctor", "--json", "--ignore", "stock,integrity", "--ignore", "numbers"]);
  const rest = JSON.parse(others.stdout) as Report;
  expect(rest.findings.filter(({ check }) => ["stock", "numbers"].includes(check))).toEqual([]);
  expect([...environment, ...database, ...records].filter((id) => !rest.checked.includes(id)).toSorted()).toEqual([
    ...["integrity", "numbers", "stock"],
  ]);
  await json("doctor", "--fix", "--only", "totals");
  expect((await run(["doctor", "--only", "stock"])).code).toBe(1);
  for (const name of ["post", "schema"]) {
    const { code, error } = await failure("doctor", "--ignore", name);
    expect({ code, message: error.message }).toEqual({ code: 2, message: expect.stringContaining(" mail, ") });
  }
});

test("without findings, the summary of doctor says so, and -q prints nothing", async () => {
  await json("user", "create", "-n", "other", "--email", "ada@example.com", "--role", "owner", "--random-password");
  await tamper(`insert into two_factor (user_id, tenant_id, secret, confirmed_at, created_at)
    select id, tenant_id, 's', 'a', 'a' from users`);
  const { code, stdout, stderr } = await run(["doctor", "-n", "other"]);
  expect({ code, stderr }).toEqual({ code: 0, stderr: expect.stringMatching(/^\d+ checks: no problems found\.\n$/) });
  expect(stdout).toContain("Environment\n  ✓ stores, taxes, accounts, keys, outbox, webhooks, payments\n");
  expect(await run(["doctor", "-n", "other", "-q"])).toEqual({ code: 0, stdout: "", stderr: "" });
});

test("doctor ends with exit code 1 for inconsistent values until they are fixed, and records each fix once", async () => {
  await tamper(addProduct("prod_a", 4), "delete from product_search");
  const common = { group: "records", namespace: "demo", subject: "prod_a", fixable: true, fixed: false };
  const told = await run(["doctor", "--json"]);
  expect(told).toMatchObject({ code: 1, stderr: "" });
  const { ok, findings } = JSON.parse(told.stdout) as Report;
  expect({ ok, findings: findings.filter(({ group }) => group === "records") }).toMatchObject({
    ok: false,
    findings: [
      { check: "stock", field: "reserved", is: 4, should: 0, ...common },
      { check: "search", field: "words", is: "missing", should: "present", ...common },
    ],
  });
  expect(await run(["doctor", "-n", "demo", "-q"])).toEqual({ code: 1, stdout: "prod_a\nprod_a\n", stderr: "" });
  expect(await run(["doctor", "-n", "other", "--fix"])).toMatchObject({ code: 0 });
  const { code, stdout, stderr } = await run(["doctor"]);
  expect(code).toBe(1);
  expect(stdout).toMatch(/^ {2}✗ stock: reserved of prod_a in store demo is 4 and should be 0\.$/m);
  expect(stderr).toEndWith("Fix what can be fixed with:\n    > bodega doctor --fix\n");
  expect(await json<unknown[]>("audit", "list", "--event", "doctor.fixed")).toEqual([]);

  const fixed = await run(["doctor", "--fix"]);
  expect(fixed.code).toBe(0);
  expect(fixed.stdout.match(/^ {2}✓ fixed: (?:stock|search): /gm)).toHaveLength(2);
  const again = await json<Report>("doctor", "--fix");
  expect(again.findings.filter(({ group }) => group === "records")).toEqual([]);
  expect(await json<unknown[]>("audit", "list", "--event", "doctor.fixed", "-n", "demo")).toMatchObject([
    { details: { check: "search", fixed: 1 } },
    { details: { check: "stock", fixed: 1 } },
  ]);
});

test("at most 20 findings of a check are printed, and --json has all", async () => {
  await tamper(...Array.from({ length: 23 }, (_, index) => addProduct(`prd_${index}`, 4)));
  const { stdout } = await run(["doctor", "--only", "stock"]);
  expect(stdout.match(/^ {2}✗ stock: /gm)).toHaveLength(20);
  expect(stdout).toContain("  3 more of stock: see --json\n");
  const all = await run(["doctor", "--only", "stock", "--json"]);
  expect((JSON.parse(all.stdout) as Report).findings.filter(({ check }) => check === "stock")).toHaveLength(23);
});

test("ctrl-C ends doctor at once with exit code 130 while a mail server is silent, and the screen shows the running check", async () => {
  const mute = createServer((socket) => socket.on("error", () => {}));
  await new Promise<void>((resolve) => mute.listen(0, "127.0.0.1", () => resolve()));
  const smtp = `smtp://127.0.0.1:${(mute.address() as { port: number }).port}`;
  const env = cli.environment({ BODEGA_SMTP_URL: smtp, BODEGA_MAIL_FROM: "shop@example.com" });
  const { code, screen } = await runAtTerminal(["doctor"], [["Checking: mail", "\u0003"]], { env });
  mute.close();
  expect(code).toBe(130);
  expect(stripEscapes(screen)).not.toContain("Environment");
});
