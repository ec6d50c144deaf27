import { beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { sql } from "drizzle-orm";
import { openStoreDatabase } from "../../src/server/admin/open-database.ts";
import { param, run as runStatement, statement } from "../../src/server/db/statement.ts";
import { appKeys } from "../../src/server/modules/app-keys/table.ts";
import { openCli, runAtTerminal, type Step } from "./run-bodega.ts";

const { dataDir, environment, json, failure, here: run } = openCli();
/** The id of the key of the current test. */
let id = "";

beforeAll(() => json("tenant", "create", "demo"));
beforeEach(async () => {
  id = (await json<{ app_id: string }>("key", "issue", "-n", "demo", "--name", "web")).app_id;
});

test("origin set replaces the allowlist and enforces it", async () => {
  await json("origin", "set", id, "old.example.com", "--allow-no-origin");
  const key = await json("origin", "set", id, "shop.example.com", "*.example.org");
  const expected = { origins: ["*.example.org", "shop.example.com"], enforce_origins: true, allow_no_origin: false };
  expect(key).toMatchObject({ app_id: id, ...expected });
  expect(key).not.toHaveProperty("app_secret");
  expect(await json<string[]>("origin", "list", id)).toEqual(expected.origins);
  expect((await run(["origin", "list", id, "-q"])).stdout).toBe("*.example.org\nshop.example.com\n");
});

test("without a terminal, origin set warns what visitors could do with a powerful key", async () => {
  const warned = async (...line: string[]) => (await run(["origin", ...line, id, "a.example.com"])).stderr;
  expect(await warned("set")).toContain(
    'warning: Every visitor of a.example.com can read key "web" and then do everything',
  );
  expect(await warned("add")).not.toContain("visitor");
  await json("key", "update", id, "--scope", "catalog:read", "--scope", "customers:sign-up", "--scope", "auth:forward");
  await json("origin", "remove", id, "a.example.com");
  expect(await warned("add")).not.toContain("visitor");
  const widened = await run(["key", "update", id, "--scope", "users:read"]);
  expect(widened.stderr).toContain('Every visitor of a.example.com can read key "web" and then read all users.');
  expect((await run(["origin", "set", id, "--any"])).stderr).toContain("Every visitor of any website can");
});

test("origin add and remove change single entries, and an empty list stays enforced", async () => {
  await json("origin", "set", id, "a.example.com");
  expect(await json("origin", "add", id, "b.example.com")).toMatchObject({
    origins: ["a.example.com", "b.example.com"],
  });
  const emptied = await json("origin", "remove", id, "a.example.com", "b.example.com");
  expect(emptied).toMatchObject({ origins: [], enforce_origins: true });
  expect(await failure("origin", "remove", id, "c.example.com")).toMatchObject({ code: 3 });
});

test("--any allows every origin; --allow-no-origin alone excludes browsers", async () => {
  const closed = await json("origin", "set", id, "--allow-no-origin");
  expect(closed).toMatchObject({ origins: [], enforce_origins: true, allow_no_origin: true });
  expect(await json("origin", "set", id, "--any")).toMatchObject({ enforce_origins: false, allow_no_origin: false });
});

describe("origin check prints whether the server allows the origin, and exits with 0 or 1", () => {
  beforeEach(() => json("origin", "set", id, "shop.example.com", "*.example.org"));
  test.each([
    ["https://shop.example.com", 0, "shop.example.com"],
    ["https://a.b.example.org", 0, "*.example.org"],
    ["https://example.org", 1, null],
    ["--none", 1, null],
  ])("%s", async (origin, code, matched) => {
    const outcome = await run(["origin", "check", id, origin, "--json"]);
    expect(outcome).toMatchObject({ code, stderr: "" });
    const { advice, ...verdict } = JSON.parse(outcome.stdout);
    expect(verdict).toEqual({ allowed: code === 0, reason: expect.any(String), matched });
    expect(typeof advice).toBe(code === 0 ? "object" : "string");
    const people = await run(["origin", "check", id, origin]);
    expect(people).toMatchObject({ code, stdout: expect.stringMatching(code === 0 ? /^allowed: / : /^rejected: /) });
  });
});

describe("a usage error ends with exit code 2 and changes nothing", () => {
  test.each([
    [["set"], "Give at least one of <origin...>, --allow-no-origin, --any."],
    [["set", "shop.example.com", "--any"], "--any and <origin...> cannot be used together."],
    [["add", "*.com"], "<origin...> "],
    [["check", "https://a.example.com", "--none"], "Give exactly one of <origin>, --none."],
  ])("origin %j", async ([command, ...rest], message) => {
    const before = await json("key", "show", id);
    const { code, error } = await failure("origin", command as string, id, ...rest);
    expect(code).toBe(2);
    expect(error.message).toStartWith(message);
    expect(await json("key", "show", id)).toEqual(before);
  });
});

test.each(["set", "check"])("an unknown key ends origin %s with exit code 3", async (command) => {
  const line = ["origin", command, "app_unknown", "https://a.example.com"];
  expect(await failure(...line)).toMatchObject({ code: 3 });
});

test("origin check suggests what to do", async () => {
  await json("origin", "set", id, "shop.example.com", "*.example.org");
  const { stdout } = await run(["origin", "check", id, "https://example.org"]);
  expect(stdout).toContain(`\nTo allow it: bodega origin add ${id} https://example.org\n`);
  expect((await run(["origin", "check", id, "https://example.org", "-q"])).stdout).toBe("rejected\n");
});

test("a change that stops a key in use, or allows it to all origins, needs a confirmation at a terminal, but not in a script", async () => {
  const use = statement(sql`update ${appKeys} set last_used_at = created_at where id = ${param("id")}`);
  await json("key", "publish", id);
  await json("origin", "set", id, "shop.example.com", "--allow-no-origin");
  const refuse: Step = ["Last used: ", "n\r"];
  const changes: [line: string[], steps: Step[]][] = [
    [
      ["origin", "set", id, "--any"],
      [["Let these sites use the key?", "y\r"], refuse],
    ],
    [["origin", "remove", id, "shop.example.com"], [refuse]],
    [["key", "unpublish", id], [refuse]],
  ];
  const db = await openStoreDatabase({ dataDir });
  await runStatement(db, use, { id });
  await db.close();
  const before = await json("key", "show", id);
  for (const [line, steps] of changes) {
    const { code } = await runAtTerminal(line, steps, { env: environment(), columns: 200 });
    expect(code).toBe(130);
  }
  expect(await json("key", "show", id)).toEqual(before);
  for (const [line] of changes.toReversed()) await json(...line);
  expect(await json("key", "show", id)).toMatchObject({ published: false, enforce_origins: false });
});
