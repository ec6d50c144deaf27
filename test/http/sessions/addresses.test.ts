import { expect } from "bun:test";
import type { Database } from "../../../src/server/db/session.ts";
import { AppError } from "../../../src/server/errors.ts";
import { closedVault } from "../../../src/server/security/secret-key.ts";
import { openAccount } from "../../support/account.ts";
import { startTestApp } from "../../support/app.ts";
import { createClient, newAddress } from "../../support/client.ts";
import { onDatabase } from "../../support/suite.ts";

/** The tables with a row that contains a text. */
async function tablesWith(db: Database, text: string): Promise<string[]> {
  const { rows: tables } = await db.execute(
    "select name from sqlite_schema where type = 'table' and name not like '%sqlite%' order by name",
  );
  const found: string[] = [];
  for (const { name } of tables) {
    const { rows } = await db.execute(`select * from "${name}"`);
    if (JSON.stringify(rows).includes(text)) found.push(String(name));
  }
  return found;
}

onDatabase("file", (suite) => {
  const { test } = suite;
  test("the address of a failed sign-in or key is in the audit log only", async (shop) => {
    const { email } = await openAccount(shop);
    for (const address of [newAddress(), "2001:db8:77:88::99"]) {
      const headers = { "user-agent": "an agent of its own/7.7" };
      for (let n = 0; n < 11; n++) {
        await shop.callAnonymously("POST /auth/login/", { body: { email, password: "wrong" }, address, headers });
      }
      await shop.call("GET /products/", { auth: "Bearer a:b", address, headers });
      expect(await tablesWith(suite.app.db, address)).toEqual(["audit_log"]);
      expect(await tablesWith(suite.app.db, address.replace("::99", ""))).toEqual(["audit_log"]);
      expect(await tablesWith(suite.app.db, "an agent of its own")).toEqual([]);
    }
  });

  test("servers without the key limit attempts as well, and share the count", async (shop) => {
    const vault = closedVault(new AppError("wrongState"));
    const open = async () => startTestApp({ db: await suite.database.openAgain(), clock: suite.app.clock, vault });
    const copies = [await open(), await open()] as const;
    const address = newAddress();
    const codes: unknown[] = [];
    for (let n = 0; n < 12; n++) {
      const call = createClient(copies[n % 2] as (typeof copies)[0], { namespace: shop.namespace });
      codes.push((await call("GET /products/", { auth: "Bearer a:b", address })).code);
    }
    expect(codes).toEqual([...Array(10).fill(5203), 5209, 5209]);
    expect(await tablesWith(suite.app.db, address)).toEqual(["audit_log"]);
    await Promise.all(copies.map((copy) => copy.stop()));
  });
});
