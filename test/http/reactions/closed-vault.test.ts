import { expect } from "bun:test";
import { AppError } from "../../../src/server/errors.ts";
import { closedVault } from "../../../src/server/security/secret-key.ts";
import { goodPassword, openAccount } from "../../support/account.ts";
import { startTestApp } from "../../support/app.ts";
import { createClient, newAddress } from "../../support/client.ts";
import { becomeVisitor, reacting } from "../../support/reactions.ts";
import { onDatabase } from "../../support/suite.ts";

onDatabase("server", (suite) => {
  const { test } = suite;
  test("a server without the database's key counts and signs in, and refuses only visitor tokens", async (shop) => {
    const { id } = await shop.createProduct();
    const eve = await openAccount(shop);
    const visitor = await becomeVisitor(shop.callAnonymously, "/likes/", id);
    const vault = closedVault(new AppError("wrongState"));
    const copy = startTestApp({ db: suite.database.db, clock: suite.app.clock, vault });
    try {
      const call = createClient(copy, { namespace: shop.namespace });
      const me = reacting(call, "/likes/", { visitor });
      expect((await me.get(id)).data).toEqual({ active: false, count: 1 });
      expect((await me.list()).data).toEqual([]);
      for (const who of [me, reacting(call, "/likes/", {})]) {
        expect([(await who.add(id)).code, (await who.remove(id)).code]).toEqual([5001, 5001]);
      }
      const body = { email: eve.email, password: goodPassword, visitor };
      const { status, data } = await call("POST /auth/login/", { body, address: newAddress() });
      expect(status).toBe(200);
      const user = reacting(call, "/likes/", { user_id: eve.id, token: data.token as string });
      expect((await user.add(id)).data).toEqual({ active: true, count: 2 });
      expect((await reacting(shop.callAnonymously, "/likes/", { visitor }).get(id)).data.active).toBe(true);
    } finally {
      await copy.stop();
    }
  });
});
