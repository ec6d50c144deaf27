import { beforeAll, describe, expect, test } from "bun:test";
import { openStoreDatabase } from "../../src/server/admin/open-database.ts";
import type { Ctx } from "../../src/server/context.ts";
import { requireTenant } from "../../src/server/modules/tenants/service.ts";
import { createUser } from "../../src/server/modules/users/service.ts";
import { vault } from "../support/app.ts";
import { openCli } from "./run-bodega.ts";

interface User {
  user_id: string;
  email: string;
}

const { dataDir, json, failure, here: run } = openCli();
const count = 205;
const emails = Array.from({ length: count }, (_, index) => `user-${String(index).padStart(3, "0")}@example.com`);
const list = async (...flags: string[]) =>
  (await json<User[]>("user", "list", "-n", "demo", ...flags)).map(({ email }) => email);

beforeAll(async () => {
  await json("tenant", "create", "demo");
  await json("tenant", "create", "other");
  await json("user", "create", "-n", "other", "--email", "else@example.com", "--no-password");
  const db = await openStoreDatabase({ dataDir });
  const now = Date.now();
  let made = 0;
  const system = { db, actor: { kind: "terminal" as const }, vault, requestId: "test" };
  const ctx: Ctx = {
    ...system,
    now: () => now + made,
    tenant: await requireTenant({ ...system, now: Date.now }, "demo"),
  };
  for (const email of emails) {
    await createUser(ctx, { email, name: `Name ${made}`, role: made % 100 === 1 ? "staff" : "customer" });
    made++;
  }
  await db.close();
  await json("user", "disable", "-n", "demo", "user-007@example.com");
});

test("all users of the tenant and of no other are listed, newest first, over several pages", async () => {
  expect(await list()).toEqual(emails.toReversed());
});

describe("a limit", () => {
  test.each([1, 100, 101, 204])("of %d applies, and further users are reported", async (limit) => {
    expect(await list("--limit", String(limit))).toEqual(emails.toReversed().slice(0, limit));
    const { stdout, stderr } = await run(["user", "list", "-n", "demo", "--limit", String(limit), "-q"]);
    expect(stdout.match(/^usr_[0-9a-z]{26}$/gm)).toHaveLength(limit);
    expect(stderr).toBe("");
    const shown = await run(["user", "list", "-n", "demo", "--limit", String(limit)]);
    expect(shown.stderr).toContain(`The list ends at the limit of ${limit} rows.`);
  });
});

test("filters list matching users", async () => {
  expect(await list("--role", "staff")).toEqual([
    "user-201@example.com",
    "user-101@example.com",
    "user-001@example.com",
  ]);
  expect(await list("--query", "USER-00", "--role", "staff")).toEqual(["user-001@example.com"]);
  expect(await list("--query", "name 204")).toEqual(["user-204@example.com"]);
  expect(await list("--status", "disabled")).toEqual(["user-007@example.com"]);
});

test.concurrent.each([
  [["-n", "nobody"], 3],
  [["-n", "demo", "--limit", "0"], 2],
  [["-n", "demo", "--role", "admin"], 2],
  [["-n", "demo", "--status", "gone"], 2],
  [["-n", "demo", "--query", "x".repeat(101)], 2],
  [[], 2],
])("user list %j is exit code %d", async (flags, code) => {
  expect(await failure("user", "list", ...flags)).toMatchObject({ code });
});
