import { expect } from "bun:test";
import { goodPassword } from "../../support/account.ts";
import { newAddress } from "../../support/client.ts";
import type { Shop } from "../../support/factories.ts";
import { openAccountWithCode, reset } from "../../support/password-reset.ts";
import { onDatabase } from "../../support/suite.ts";

onDatabase("file", (suite) => {
  const { test } = suite;
  const login = (shop: Shop, email: string, password: string, otp?: string) =>
    shop.callAnonymously("POST /auth/login/", { body: { email, password, otp }, address: newAddress() });

  test("a login that began before a reset gets no token that outlives it", async () => {
    const { shop, account, email, code } = await openAccountWithCode(suite);
    const [signedIn] = await Promise.all([login(shop, email, goodPassword), reset(shop, email, code)]);
    if (signedIn.status === 200) {
      const query = { user_id: account.id, token: signedIn.data.token as string };
      const after = await shop.callAnonymously("GET /users/me/two-factor/", { query, address: newAddress() });
      expect(after.code).toBe(5207);
    } else expect(signedIn.code).toBe(5212);
  });
});
