import { beforeAll, describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { makeDir, openCli } from "./run-bodega.ts";

const { json, failure, here: run } = openCli();
const timestamp = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
const unknownId = "app_00000000000000000000000000";

interface Key {
  app_id: string;
  app_secret: string;
}

interface Details {
  expires_at: string;
  secrets: { expires_at: string | null }[];
}

const show = ({ app_id }: Key) => json<Details>("key", "show", app_id);
const issue = (...args: string[]) => json<Key>("key", "issue", "-n", "demo", "--name", "web", ...args);

beforeAll(async () => {
  await json("tenant", "create", "demo");
  await json("tenant", "create", "other");
});

test("a new key is active and unpublished, and its secret is never shown again", async () => {
  const issued = await issue();
  expect(issued).toMatchObject({ scopes: ["*"], active: true, published: false, origins: [], enforce_origins: false });
  const { app_secret, ...withoutSecret } = issued;
  expect(app_secret).toMatch(/^\S{40,}$/);
  const secrets = [{ created_at: timestamp, expires_at: null, last_used_at: null }];
  expect(await json<object>("key", "show", issued.app_id)).toMatchObject({ ...withoutSecret, secrets });
  for (const line of [
    ["key", "show", issued.app_id],
    ["key", "list", "-n", "demo"],
    ["key", "list", "-n", "demo", "--json"],
  ]) {
    expect((await run(line)).stdout).not.toContain(app_secret);
  }
});

test("flags of key issue set publication, scopes and expiry", async () => {
  const key = await issue("--publish", "--scope", "products:read", "--scope=products:write", "--expires", "90d");
  expect(key).toMatchObject({ published: true, scopes: ["products:read", "products:write"] });
  const { expires_at } = await show(key);
  expect(Math.abs(Date.parse(expires_at) - Date.now() - 90 * 86_400_000)).toBeLessThan(60_000);
  const { expires_at: exact } = await show(await issue("--expires", "2090-01-31T00:00:00+01:00"));
  expect(exact).toBe("2090-01-30T23:00:00.000Z");
});

const site = ["--origin", "shop.example.com"];

test.each([
  ["storefront", ["catalog:read", "orders:place", "customers:sign-up"], site, false],
  ["backend", ["*"], [], true],
  ["backend", ["*"], site, true],
  ["import", ["products:read", "products:write", "media:write"], [], true],
] as const)("the purpose %s sets the scopes %j, and refuses pages of sites not in %j", async (...row) => {
  const [purpose, scopes, sites, allow_no_origin] = row;
  const key = await issue("--for", purpose, ...sites);
  expect(key).toMatchObject({ scopes, enforce_origins: true, allow_no_origin, origins: sites.slice(1) });
  expect(Object.keys(key)).toEqual(Object.keys(await issue()));
});

test("a storefront key requires the sites of its pages, or --allow-no-origin", async () => {
  for (const scopes of [
    ["--for", "storefront"],
    ["--scope", "customers:*", "--scope", "catalog:*"],
  ]) {
    const { code, error } = await failure("key", "issue", "-n", "demo", "--name", "page", ...scopes);
    expect([code, error.details]).toEqual([2, [{ field: "--origin", message: "is required for a storefront key" }]]);
    const key = await issue(...scopes, "--allow-no-origin");
    expect(key).toMatchObject({ origins: [], enforce_origins: true, allow_no_origin: true });
  }
});

test("key issue refuses a purpose together with scopes, and issues no key for a wrong origin", async () => {
  const before = (await json<unknown[]>("key", "list", "-n", "demo")).length;
  for (const more of [
    ["--for", "backend", "--scope", "catalog:read"],
    ["--for", "shop"],
    ["--for", "storefront", "--origin", "shop.example.com/path"],
  ]) {
    expect((await failure("key", "issue", "-n", "demo", "--name", "page", ...more)).code).toBe(2);
  }
  expect(await json<unknown[]>("key", "list", "-n", "demo")).toHaveLength(before);
});

test("without --json, key issue shows the secret once, with a warning", async () => {
  const { stdout, stderr } = await run(["key", "issue", "-n", "demo", "--name", "web"]);
  expect(stdout).toMatch(/^App id +app_\S+\nApp secret +\S{40,}\n/);
  expect(stderr).toContain("warning: Save this secret now");
  expect(stderr).toContain("bodega key publish app_");
});

test("--save-secret-to writes the secret to a new file, and not to the screen", async () => {
  const path = join(makeDir(), "secret");
  const { stdout } = await run(["key", "issue", "-n", "demo", "--name", "web", "--save-secret-to", path, "--json"]);
  const secret = readFileSync(path, "utf8");
  expect(secret).toMatch(/^\S{40,}\n$/);
  expect(stdout).not.toContain(secret.trim());
  expect(JSON.parse(stdout)).toMatchObject({ name: "web", secret_file: path });
});

test("a key can be published, deactivated, rotated and revoked", async () => {
  const { app_id, app_secret } = await issue();
  expect(await json("key", "publish", app_id)).toMatchObject({ app_id, published: true });
  expect(await json("key", "unpublish", app_id)).toMatchObject({ published: false });
  expect(await json("key", "deactivate", app_id)).toMatchObject({ active: false });
  expect(await json("key", "activate", app_id)).toMatchObject({ active: true });
  const rotated = await json<Key>("key", "rotate", app_id, "--overlap", "24h");
  expect(rotated.app_secret).not.toBe(app_secret);
  const [newest, older] = (await show(rotated)).secrets;
  expect(newest?.expires_at).toBeNull();
  expect(Math.abs(Date.parse(older?.expires_at ?? "") - Date.now() - 86_400_000)).toBeLessThan(60_000);
  expect((await show(await json<Key>("key", "rotate", app_id, "--yes"))).secrets).toHaveLength(1);
  expect(await json("key", "revoke", app_id, "--yes")).toMatchObject({ active: false, published: false });
  expect(await show(rotated)).toMatchObject({ revoked_at: timestamp, secrets: [] } as unknown as Details);
  expect(await failure("key", "publish", app_id)).toMatchObject({ code: 4, error: { code: 5306 } });
});

describe("a command for a key that does not exist ends with exit code 3", () => {
  test.concurrent.each([
    [["show", unknownId]],
    [["show", "nonsense"]],
    [["publish", unknownId]],
    [["rotate", unknownId, "--yes"]],
    [["show", "-n", "demo", "nobody's"]],
    [["issue", "-n", "nobody", "--name", "web"]],
    [["list", "-n", "nobody"]],
  ])("key %j", async (line) => {
    expect(await failure("key", ...line)).toMatchObject({ code: 3, error: { code: 5301 } });
  });
});

test("with -n, a command refuses a key of another tenant", async () => {
  const { app_id } = await issue();
  expect(await failure("key", "publish", app_id, "-n", "other")).toMatchObject({ code: 3 });
  expect(await json("key", "publish", app_id, "-n", "demo")).toMatchObject({ published: true });
});

describe("an invalid value ends the command with exit code 2, and the error names its flag", () => {
  test.concurrent.each([
    [["issue", "-n", "demo", "--name", "web", "--scope", "everything"], "--scope"],
    [["issue", "-n", "demo", "--name", " "], "--name"],
    [["issue", "-n", "demo", "--name", "web", "--expires", "2030-02-31T00:00:00Z"], "--expires"],
    [["issue", "-n", "demo", "--name", "web", "--expires", "2030-01-31"], "--expires"],
    [["issue", "-n", "demo", "--name", "web", "--save-secret-to", "/nowhere/at/all"], "--save-secret-to"],
    [["rotate", unknownId, "--overlap", "a while"], "--overlap"],
    [["rotate", unknownId, "--overlap", "999w"], "--overlap"],
  ])("key %j", async (line, flag) => {
    const { code, error } = await failure("key", ...line);
    expect(code).toBe(2);
    expect(error.message).toStartWith(`${flag} `);
  });
});

test("key retire asks for confirmation, expires only old secrets, and changes nothing if there are no old secrets", async () => {
  const key = await issue();
  await json("key", "rotate", key.app_id, "--overlap", "24h");
  const { error } = await failure("key", "retire", key.app_id);
  expect(error.details).toMatchObject([{ field: "--yes" }]);
  expect((await show(key)).secrets).toHaveLength(2);
  expect(await json("key", "retire", key.app_id, "--yes")).toMatchObject({ app_id: key.app_id, retired: 1 });
  expect((await show(key)).secrets).toMatchObject([{ expires_at: null }]);
  expect(await json("key", "retire", key.app_id, "--yes")).toMatchObject({ retired: 0 });
});

describe("names of keys", () => {
  beforeAll(async () => {
    await json("tenant", "create", "named");
    for (const name of ["front end", "back", "twin", "twin"]) await json("key", "issue", "-n", "named", "--name", name);
  });

  test("a key can be given by name with -n, or with BODEGA_NAMESPACE", async () => {
    expect(await json("key", "publish", "-n", "named", "front end")).toMatchObject({
      name: "front end",
      published: true,
    });
    const { stdout } = await run(["key", "show", "back", "--json"], { env: { BODEGA_NAMESPACE: "named" } });
    expect(JSON.parse(stdout)).toMatchObject({ name: "back" });
    expect(await failure("key", "show", "back")).toMatchObject({ code: 3 });
  });

  test("if two keys have the given name, the command ends with exit code 4 and lists both ids", async () => {
    const keys = await json<(Key & { name: string })[]>("key", "list", "-n", "named");
    const ids = keys.filter(({ name }) => name === "twin").map(({ app_id }) => app_id);
    expect(ids).toHaveLength(2);
    const { code, error } = await failure("key", "show", "-n", "named", "twin");
    expect(code).toBe(4);
    for (const id of ids) expect(error.remedy).toContain(id);
  });

  test("a misspelt name gets a suggestion from the same tenant only", async () => {
    const { stderr, code } = await run(["key", "show", "-n", "named", "bakc"]);
    expect({ code, stderr }).toEqual({
      code: 3,
      stderr: expect.stringContaining("Did you mean back? List them all: bodega key list -n named"),
    });
    expect((await run(["key", "show", "-n", "other", "bakc"])).stderr).not.toContain("Did you mean");
  });
});

test("key list filters by state", async () => {
  await json("tenant", "create", "listed");
  const make = (name: string, ...flags: string[]) =>
    json<Key>("key", "issue", "-n", "listed", "--name", name, ...flags);
  await make("Web shop", "--publish");
  await json("key", "deactivate", (await make("off")).app_id);
  await json("key", "revoke", (await make("gone")).app_id, "--yes");
  const names = async (state: string) =>
    (await json<{ name: string }[]>("key", "list", "-n", "listed", "--state", state)).map(({ name }) => name);
  expect(await Promise.all(["published", "inactive", "revoked"].map(names))).toEqual([["Web shop"], ["off"], ["gone"]]);
});

test("key show prints when each secret was created and used, and when it expires", async () => {
  const { app_id } = await issue();
  await json("key", "rotate", app_id, "--overlap", "48h");
  const { stdout } = await run(["key", "show", app_id]);
  const [record, secrets] = stdout.split("\n\n");
  expect(record).toMatch(/^State +unpublished$/m);
  expect(secrets).toMatch(/^current +\S.* +- +the key is rotated$/m);
  expect(secrets).toMatch(/^old +\S.* +- +in 2 days$/m);
  expect((await run(["key", "show", app_id, "-q"])).stdout).toBe(`${app_id}\n`);
});

test("key update changes only name, scopes and expiry, and refuses a revoked key", async () => {
  const { app_id } = await issue("--scope", "products:read", "--expires", "1d");
  const update = (...flags: string[]) => json<Details>("key", "update", app_id, ...flags);
  expect(await update("--expires", "never")).toMatchObject({
    name: "web",
    scopes: ["products:read"],
    expires_at: null,
  });
  const renamed = await update("--name", "import", "--scope", "products:write", "--expires", "90d");
  expect(renamed).toMatchObject({ name: "import", scopes: ["products:write"], published: false });
  expect(Math.abs(Date.parse(renamed.expires_at) - Date.now() - 90 * 86_400_000)).toBeLessThan(60_000);
  expect((await failure("key", "update", app_id)).code).toBe(2);
  expect((await failure("key", "update", app_id, "--scope", "everything")).error.message).toStartWith("--scope ");
  await json("key", "revoke", app_id, "--yes");
  expect(await failure("key", "update", app_id, "--name", "back")).toMatchObject({ code: 4, error: { code: 5306 } });
});
