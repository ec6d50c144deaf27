import { expect } from "bun:test";
import type { AppError } from "../../../src/server/errors.ts";
import { inviteUser, requestReset } from "../../../src/server/modules/password-reset/service.ts";
import { goodPassword, openAccount } from "../../support/account.ts";
import { type Shop, tenantContext } from "../../support/factories.ts";
import { failureOf } from "../../support/failure.ts";
import { reset } from "../../support/password-reset.ts";
import { codeIn, deliverMail, readCode } from "../../support/sign-up.ts";
import { onDatabase } from "../../support/suite.ts";

const email = "ada@example.com";

onDatabase("file", (suite) => {
  const { test } = suite;
  const login = (shop: Shop) => shop.callAnonymously("POST /auth/login/", { body: { email, password: goodPassword } });
  const codeOf = async (work: Promise<unknown>) => ((await failureOf(work)) as AppError).code;

  test("an invited person sets a first password with the mailed code within three days", async (shop) => {
    const inviteAs = async (role: "staff" | "owner") => {
      const { id, token } = await openAccount(shop, { role });
      const query = { user_id: id, token, lang: "fr" };
      return shop.callAnonymously("POST /users/invite/", { query, body: { email, name: "Ada", role: "staff" } });
    };
    expect((await inviteAs("staff")).code).toBe(5300);
    const { data: invited } = await inviteAs("owner");
    expect(invited).toMatchObject({ email, role: "staff", status: "active" });
    const [mail] = await deliverMail(shop);
    expect(mail).toMatchObject({ to: email, subject: "Choisissez le mot de passe de votre nouveau compte" });
    expect((await login(shop)).code).toBe(5212);
    suite.app.clock.advance(3 * 86_400_000 - 1);
    expect((await reset(shop, email, codeIn(mail?.text), goodPassword)).status).toBe(200);
    expect((await login(shop)).status).toBe(200);
  });

  test("a requested password reset does not end an invitation; a completed reset does", async (shop) => {
    const ctx = await tenantContext(shop);
    await inviteUser(ctx, { email, name: "Ada" });
    const code = await readCode(shop, "invitation");
    await requestReset(ctx, { email });
    const other = await readCode(shop, "reset_code");
    suite.app.clock.advance(86_400_000);
    expect((await reset(shop, email, other, goodPassword)).code).toBe(5216);
    expect((await reset(shop, email, code, goodPassword)).status).toBe(200);
    const later = "bob@example.com";
    await inviteUser(ctx, { email: later });
    const invitation = await readCode(shop, "invitation");
    await requestReset(ctx, { email: later });
    expect((await reset(shop, later, await readCode(shop, "reset_code"), goodPassword)).status).toBe(200);
    expect((await reset(shop, later, invitation, goodPassword)).code).toBe(5216);
  });

  test("an invitation ends after three days and can be repeated; the fields of the user do not change", async (shop) => {
    const ctx = await tenantContext(shop);
    const { id } = await inviteUser(ctx, { email, name: "Ada" });
    const code = await readCode(shop, "invitation");
    suite.app.clock.advance(3 * 86_400_000);
    expect((await reset(shop, email, code, goodPassword)).code).toBe(5216);
    expect(await inviteUser(ctx, { email, name: "Eve", role: "owner" })).toMatchObject({
      id,
      name: "Ada",
      role: "customer",
    });
    expect((await reset(shop, email, await readCode(shop, "invitation"), goodPassword)).status).toBe(200);
    expect(await codeOf(inviteUser(ctx, { email }))).toBe(5306);
  });

  test("a fourth invitation within 20 minutes is refused", async (shop) => {
    const ctx = await tenantContext(shop);
    for (let n = 0; n < 3; n++) await inviteUser(ctx, { email });
    expect(await codeOf(inviteUser(ctx, { email }))).toBe(5107);
  });
});
