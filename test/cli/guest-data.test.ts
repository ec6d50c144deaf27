import { expect, test } from "bun:test";
import { openStoreDatabase } from "../../src/server/admin/open-database.ts";
import { cancelOrder } from "../../src/server/modules/orders/cancel.ts";
import { correctOrder } from "../../src/server/modules/orders/correct.ts";
import { findOrder } from "../../src/server/modules/orders/list.ts";
import { requireTenant } from "../../src/server/modules/tenants/service.ts";
import { openVault } from "../../src/server/security/secret-key.ts";
import { type PreparedShop, usePreparedShop } from "./prepared-shop.ts";
import { runHere } from "./run-here.ts";

const openShop = usePreparedShop();
const email = "guest@example.com";

/** Adds an email to the unpaid order of a guest, and cancels the order. */
async function prepareGuest({ dataDir, namespace, pendingOrder }: PreparedShop) {
  const db = await openStoreDatabase({ dataDir });
  try {
    const vault = await openVault({ secret: undefined, dataDir }, db);
    const system = { db, vault, actor: { kind: "terminal" }, requestId: "test", now: Date.now } as const;
    const ctx = { ...system, tenant: await requireTenant(system, namespace) };
    const { id } = await findOrder(ctx, pendingOrder);
    await correctOrder(ctx, id, { email });
    await cancelOrder(ctx, id);
  } finally {
    await db.close();
  }
}

test("a guest's data is exported and erased by email, and the erasure asks for the email again", async () => {
  const shop = openShop();
  await prepareGuest(shop);
  const call = (...args: string[]) => runHere(["user", ...args, "-n", "demo", "--email", email], shop);
  const exported = await call("export");
  expect(JSON.parse(exported.stdout)).toMatchObject({ email, orders: [{ number: Number(shop.pendingOrder), email }] });
  expect(await call("erase")).toMatchObject({ code: 2, stderr: expect.stringContaining("--confirm") });
  expect(await call("erase", "--confirm", email)).toMatchObject({
    code: 0,
    stderr: expect.stringContaining(`Erased ${email}.`),
  });
  const { code, stderr } = await call("export");
  expect([code, stderr]).toEqual([3, expect.stringContaining(`Guest "${email}" not found`)]);
});

test("user export and erase accept either a user or the email of a guest", async () => {
  const shop = openShop();
  for (const command of ["export", "erase"]) {
    const run = (...args: string[]) => runHere(["user", command, "-n", "demo", ...args], shop);
    expect(await run()).toMatchObject({ code: 2, stderr: expect.stringContaining("exactly one of") });
    expect(await run("ada@example.com", "--email", email)).toMatchObject({ code: 2 });
  }
  const { code, stderr } = await runHere(["user", "export", "-n", "demo", "--email", "ADA@example.com"], shop);
  expect([code, stderr]).toEqual([4, expect.stringContaining("ada@example.com is the address of a user")]);
});
