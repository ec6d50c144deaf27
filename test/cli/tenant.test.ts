import { beforeAll, describe, expect, test } from "bun:test";
import { openCli } from "./run-bodega.ts";

/** The fields of a new store. */
const defaults = {
  ...{ currency: "EUR", currency_sign: "€", language: "en", status: "active", token_lifetime: 2_592_000 },
  ...{ points_rate: 1, point_value: 0.01, points_days: null, address_writes: 1200, visitor_writes: 240 },
  ...{ pending_orders: 5, stock_share: 20, orders_per_minute: 10, media_quota: 1_073_741_824 },
  ...{ country: null, timezone: "UTC", prices_include_tax: "yes", hold: 3600, transfer_hold: 604_800 },
  ...{
    long_hold_share: 50,
    transfer_instructions: null,
    order_url: null,
    low_stock_at: null,
    notify: [],
    mails_off: [],
    keep_invoices: 8,
  },
  ...{ tax_note: null, legal_urls: {} },
  ...{ sign_up: "verified", sign_in_by_mail: "off", resource_types: [] },
};

test("the first tenant creates the database, and has the documented defaults", async () => {
  const { json, here: run } = openCli();
  const created = await json("tenant", "create", "demo");
  const shown = await json("tenant", "show", "demo");
  expect(shown).toMatchObject({ ...created, ...defaults, namespace: "demo", title: "demo" });
  expect(await json<unknown[]>("tenant", "list")).toEqual([shown]);
  expect((await run(["tenant", "list", "-q"])).stdout).toBe("demo\n");
  expect((await run(["tenant", "show", "demo"])).stdout).toMatch(/^Namespace +demo\nTitle +demo\nDomain +-\n/);
});

test("an address for a store's mails is stored once, in whatever case it is typed", async () => {
  const { json } = openCli();
  const notify = ["Ada@shop.example", "ada@SHOP.example", "bob@shop.example"].flatMap((one) => ["--notify", one]);
  await json("tenant", "create", "demo", ...notify);
  expect(await json("tenant", "show", "demo")).toMatchObject({ notify: ["ada@SHOP.example", "bob@shop.example"] });
});

test("an empty list of tenants is an empty array in JSON, and otherwise a note", async () => {
  const { json, here: run } = openCli();
  await json("db", "migrate");
  expect(await json<unknown[]>("tenant", "list")).toEqual([]);
  const { code, stdout, stderr } = await run(["tenant", "list"]);
  expect({ code, stdout }).toEqual({ code: 0, stdout: "" });
  expect(stderr).toContain("bodega tenant create");
});

test("tenant list filters by status, and by a part of namespace, title or domain", async () => {
  const { json, here } = openCli();
  await json("tenant", "create", "demo");
  await json("tenant", "create", "second-shop", "--title", "Lamps & more", "--domain", "lamps.example.com");
  await json("tenant", "suspend", "second-shop", "--yes");
  const names = async (...flags: string[]) => (await here(["tenant", "list", "-q", ...flags])).stdout;
  for (const part of ["second", "LAMPS &", "lamps.example"]) expect(await names("--query", part)).toBe("second-shop\n");
  expect(await names("--status", "suspended")).toBe("second-shop\n");
  expect(await names("--query", "lamps", "--status", "active")).toBe("");
});

test("a tenant can be updated, suspended, resumed and deleted", async () => {
  const { json, failure, here: run } = openCli();
  await json("tenant", "create", "demo", "--domain", "shop.example.com");
  const updated = await json("tenant", "update", "demo", "--title", "New", "--currency", "USD", "--domain=");
  expect(updated).toMatchObject({ title: "New", currency: "USD", currency_sign: "$", domain: null });
  expect(await json("tenant", "suspend", "demo", "--yes")).toMatchObject({ status: "suspended", title: "New" });
  expect(await json("tenant", "resume", "demo")).toMatchObject({ status: "active" });
  expect((await run(["tenant", "delete", "demo", "--confirm", "demo", "-q"])).stdout).toBe("demo\n");
  expect(await failure("tenant", "show", "demo")).toMatchObject({ code: 3, error: { code: 5301 } });
});

describe("a tenant that does not exist ends the command with exit code 3", () => {
  const { failure, json } = openCli();
  beforeAll(() => json("db", "migrate"));
  test.concurrent.each([
    [["tenant", "show", "nobody"]],
    [["tenant", "update", "nobody", "--title", "x"]],
    [["tenant", "suspend", "nobody", "--yes"]],
    [["tenant", "resume", "nobody"]],
    [["tenant", "delete", "nobody", "--confirm", "nobody"]],
  ])("%j", async (line) => {
    const { code, error } = await failure(...line);
    expect(code).toBe(3);
    expect(error).toMatchObject({ code: 5301, message: 'Store "nobody" not found.' });
  });
});

test("a namespace that exists ends tenant create with exit code 4", async () => {
  const { json, failure } = openCli();
  await json("tenant", "create", "demo");
  expect(await failure("tenant", "create", "demo")).toMatchObject({
    code: 4,
    error: { code: 5302, remedy: expect.stringMatching(/Choose another namespace, .* tenant show demo$/) },
  });
});

describe("an invalid field ends the command with exit code 2, and the error names its flag", () => {
  const { failure, json } = openCli();
  beforeAll(() => json("tenant", "create", "demo"));
  test.concurrent.each([
    [["tenant", "create", "Not_A_Name"], "<namespace>"],
    [["tenant", "create", "a", "--currency-sign", "too long a sign"], "--currency-sign"],
    [["tenant", "create", "a", "--currency", "JPY", "--point-value", "0.5"], "--point-value"],
    [["tenant", "create", "a", "--timezone", "Berlin"], "--timezone"],
    [["tenant", "create", "a", "--hold", "31d"], "--hold"],
    [["tenant", "create", "a", "--order-url", "https://shop.example/#order"], "--order-url"],
    [["tenant", "create", "a", "--legal-url", "imprint=shop.example"], "--legal-url"],
    [["tenant", "update", "demo", "--title", "  "], "--title"],
  ])("%j", async (line, flag) => {
    const { code, error } = await failure(...line);
    expect(code).toBe(2);
    expect(error).toMatchObject({ code: 5102, details: [{ flag }] });
    expect(error.message).toStartWith(`${flag} `);
  });
});

test("tenant update sets the lifetime of user tokens as a duration, which JSON shows in seconds", async () => {
  const { json, here: run } = openCli();
  await json("tenant", "create", "demo", "--token-lifetime", "12h");
  expect(await json("tenant", "show", "demo")).toMatchObject({ token_lifetime: 43_200 });
  expect((await run(["tenant", "show", "demo"])).stdout).toMatch(/^Token lifetime +12 hours$/m);
  expect((await run(["tenant", "update", "demo", "--token-lifetime", "36h"])).stdout).toMatch(/^Token .* 36 hours$/m);
});

test("tenant create sets points and limits but does not print them; tenant update changes only the given values", async () => {
  const { json } = openCli();
  const points = ["--currency", "KWD", "--points-rate", "1.5", "--point-value", "0.005", "--points-days", "365"];
  const limits = ["--address-writes", "5000", "--visitor-writes", "0", "--pending-orders", "0", "--stock-share", "100"];
  const set = {
    ...{ points_rate: 1.5, point_value: 0.005, points_days: 365 },
    ...{ address_writes: 5000, visitor_writes: 0, pending_orders: 0, stock_share: 100, orders_per_minute: 10 },
  };
  expect(await json("tenant", "create", "demo", ...points, ...limits)).not.toContainAnyKeys(Object.keys(set));
  expect(await json("tenant", "show", "demo")).toMatchObject(set);
  await json("tenant", "update", "demo", "--points-days", "none", "--orders-per-minute", "3");
  expect(await json<object[]>("tenant", "list")).toMatchObject([{ ...set, points_days: null, orders_per_minute: 3 }]);
});

test("tenant update adds and removes resource types, and shows them in order", async () => {
  const { json, here: run } = openCli();
  await json("tenant", "create", "demo");
  const types = async (...flags: string[]) => (await json("tenant", "update", "demo", ...flags)).resource_types;
  expect(await types("--resource-type", "page", "--resource-type", "article")).toEqual(["article", "page"]);
  expect(await types("--title", "Demo")).toEqual(["article", "page"]);
  expect((await run(["tenant", "show", "demo"])).stdout).toMatch(/^Resource types +article, page$/m);
  expect(await types("--remove-resource-type", "page")).toEqual(["article"]);
});

test("tenant update sets the settings of sales, shows them in readable units, and clears them with an empty value", async () => {
  const { json, here: run } = openCli();
  const legal = ["imprint=https://shop.example/imprint", "terms=https://shop.example/t?a=b"];
  const pages = legal.flatMap((one) => ["--legal-url", one]);
  const flags = ["--country", "de", "--timezone", "Europe/Berlin", "--prices-include-tax", "no", "--hold", "90m"];
  const more = ["--transfer-hold", "14d", "--transfer-instructions", "IBAN DE02 1203", "--low-stock-at", "5"];
  const note = ["--tax-note", "No VAT (§ 19 UStG)", "--order-url=https://shop.example/order", "--long-hold-share=40"];
  await json("tenant", "create", "demo", ...flags, ...more, ...note, ...pages);
  expect(await json("tenant", "show", "demo")).toMatchObject({
    country: "DE",
    timezone: "Europe/Berlin",
    prices_include_tax: "no",
    hold: 5400,
    transfer_hold: 1_209_600,
    long_hold_share: 40,
    transfer_instructions: "IBAN DE02 1203",
    order_url: "https://shop.example/order",
    low_stock_at: 5,
    tax_note: "No VAT (§ 19 UStG)",
    legal_urls: { imprint: "https://shop.example/imprint", terms: "https://shop.example/t?a=b" },
  });
  const { stdout } = await run(["tenant", "show", "demo"]);
  for (const part of [
    /^Prices include tax +no$/m,
    /^Hold +90 minutes$/m,
    /^Transfer hold +14 days$/m,
    /^Legal urls +imprint https:\/\/shop.example\/imprint, terms https:\/\/shop.example\/t\?a=b$/m,
  ]) {
    expect(stdout).toMatch(part);
  }
  const change = "--legal-url terms= --legal-url privacy=https://shop.example/p --tax-note= --order-url=".split(" ");
  expect(await json("tenant", "update", "demo", ...change, "--low-stock-at", "none")).toMatchObject({
    legal_urls: { imprint: "https://shop.example/imprint", privacy: "https://shop.example/p" },
    ...{ tax_note: null, order_url: null, low_stock_at: null, country: "DE" },
  });
  const [entry] = await json<{ details: { fields: string[] } }[]>("audit", "list", "--event", "tenant.updated");
  expect(entry?.details.fields).toContain("legal_urls");
});

test("tenant update changes tax settings and the reservation time", async () => {
  const { json } = openCli();
  await json("tenant", "create", "demo", "--country", "DE");
  const flags = ["--country", "AT", "--prices-include-tax", "no", "--hold", "2h", "--transfer-hold", "7d"];
  const changed = { country: "AT", prices_include_tax: "no", hold: 7200 };
  expect(await json("tenant", "update", "demo", ...flags)).toMatchObject(changed);
});

describe("a text in place of a number is a usage error", () => {
  const { failure } = openCli();
  test.concurrent.each([
    ["--points-rate", ["1e3", "-1", "1,5", ".5", "Infinity", "0.1000000000000001"]],
    ["--points-days", ["365d", "1.5", "-1", "never"]],
    ["--address-writes", ["none", "1.5", "-1", "1e3"]],
  ])("%s", async (flag, texts) => {
    for (const text of texts) {
      const { code, error } = await failure("tenant", "create", "a", `${flag}=${text}`);
      expect([text, code, error.message.startsWith(`${flag} must be `)]).toEqual([text, 2, true]);
    }
  });
});

test.each([
  ["Deutsch", "for German: de"],
  ["日本語", "for Japanese: ja"],
  ["xx", "a known language, such as de, en or pt-BR"],
])("the language %s is refused, and the error suggests a code if it knows the name", async (language, hint) => {
  const { code, error } = await openCli().failure("tenant", "create", "spoken", "--language", language);
  expect([code, error.message]).toEqual([2, expect.stringContaining(hint)]);
});
