import { expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { openCheckout } from "../../src/server/modules/payments/checkout.ts";
import { returnUrls } from "../support/pay-shop.ts";
import { type PreparedShop, usePreparedShop } from "./prepared-shop.ts";
import { runHere } from "./run-here.ts";
import { openShopContext } from "./shop-context.ts";

const prepare = usePreparedShop();

const run = ({ env }: PreparedShop, ...line: string[]) => runHere(line, { env: env as Record<string, string> });
const demo = ["-n", "demo"];

test("a key that is not a secret key of Stripe is refused with a remedy, and not repeated in the error", async () => {
  const shop = prepare();
  const file = join(shop.dir, "wrong.key");
  writeFileSync(file, "pk_test_51standInOfStripe\n");
  const { code, stderr } = await run(shop, "payment", "connect", "stripe", ...demo, "--key-file", file);
  expect(code).toBe(2);
  expect(stderr).toContain("publishable key");
  expect(stderr).not.toContain("51standIn");
});

test("for a store without a payment provider, the error says how to connect one", async () => {
  const shop = prepare();
  expect((await run(shop, "payment", "disconnect", ...demo, "--yes")).code).toBe(0);
  for (const verb of ["show", "check", "disconnect"]) {
    const { code, stderr } = await run(shop, "payment", verb, ...demo, "--yes");
    expect([verb, code]).toEqual([verb, 4]);
    expect(stderr).toContain("bodega payment connect stripe -n demo");
  }
});

test("payment check exits with 1 and a remedy if Stripe has no endpoint, with or without BODEGA_PUBLIC_URL", async () => {
  const shop = prepare();
  const { ctx, close } = await openShopContext(shop);
  const check = () => run(shop, "payment", "check", ...demo);
  expect(await check()).toMatchObject({ code: 0, stderr: "" });
  await ctx.db.execute("update payment_accounts set endpoint_id = 'we_gone'");
  const { code, stdout, stderr } = await check();
  expect(code).toBe(1);
  expect(stdout).toContain("The endpoint was deleted at Stripe.");
  expect(stderr).toContain("BODEGA_PUBLIC_URL set as for the server: bodega payment connect stripe -n demo --key-file");
  await close();
});

test("order cancel first closes the payment page of the order; a dry run does not close it", async () => {
  const shop = prepare();
  const { ctx, close } = await openShopContext(shop);
  const { id } = await ctx.db
    .execute({ sql: "select id from orders where number = ?", args: [shop.pendingOrder] })
    .then(({ rows }) => rows[0] as unknown as { id: string });
  await openCheckout(ctx, id, returnUrls);
  const state = async () => (await ctx.db.execute("select state from checkouts")).rows[0]?.state;
  expect((await run(shop, "order", "cancel", ...demo, shop.pendingOrder, "--dry-run")).code).toBe(0);
  expect(await state()).toBe("open");
  expect((await run(shop, "order", "cancel", ...demo, shop.pendingOrder, "--yes")).code).toBe(0);
  expect(await state()).toBe("expired");
  await close();
});
