import { expect } from "bun:test";
import { registerDevice } from "../../../src/server/modules/notifications/registrations/registration.ts";
import { listRegistrations } from "../../../src/server/modules/notifications/registrations/registrations.ts";
import { listTokens, revokeToken, revokeTokensOf } from "../../../src/server/modules/tokens/service.ts";
import { setPassword, updateUser } from "../../../src/server/modules/users/service.ts";
import { type Account, goodPassword, openAccount, otherPassword } from "../../support/account.ts";
import { type Shop, tenantContext } from "../../support/factories.ts";
import { failureOf } from "../../support/failure.ts";
import { requestCode, reset } from "../../support/password-reset.ts";
import { newGoogleToken, newSubscription, type RegistrationReply, registerWith } from "../../support/registrations.ts";
import { onDatabase } from "../../support/suite.ts";

const path = "/users/me/devices/";

/** After these acts, a device that a thief may have registered receives no more notifications of the user. */
const acts: [string, (shop: Shop, account: Account) => Promise<unknown>][] = [
  [
    "a password reset",
    async (shop, { email }) => expect((await reset(shop, email, await requestCode(shop, email))).status).toBe(200),
  ],
  [
    "a change of the own password",
    async (_, { call }) => {
      const body = { current_password: goodPassword, password: otherPassword };
      expect((await call("POST /users/me/password/", { body })).status).toBe(200);
    },
  ],
  ["a password set by an operator", async (shop, { id }) => setPassword(await tenantContext(shop), id, otherPassword)],
  ["the revocation of a user's tokens", async (shop, { id }) => revokeTokensOf(await tenantContext(shop), id)],
  [
    "disabling and enabling a user",
    async (shop, { id }) => {
      for (const status of ["disabled", "active"] as const) {
        const { version } = await updateUser(await tenantContext(shop), id, { status }, null);
        expect(version).toBeGreaterThan(1);
      }
    },
  ],
  [
    "the revocation of one token",
    async (shop, { id: userId }) => {
      const ctx = await tenantContext(shop);
      const [token] = await listTokens(ctx, { userId });
      expect(await revokeToken(ctx, token?.token_id as string)).toBe(1);
    },
  ],
];

onDatabase("file", (suite) => {
  const { test } = suite;
  test.each(acts)("%s detaches the user's devices, and no devices of others", async (_, act) => {
    const shop = await suite.shop();
    const [account, neighbour] = [await openAccount(shop), await openAccount(shop)];
    const lost = await registerWith(account.call, { topics: ["sale"] });
    const kept = await registerWith(neighbour.call);
    await act(shop, account);
    const devices = await listRegistrations(await tenantContext(shop));
    expect(devices.map((one) => [one.registration_id, one.user_id, one.topics])).toEqual([
      [kept.id, neighbour.id, []],
      [lost.id, null, ["sale"]],
    ]);
  });

  test("the revocation of all tokens of a store detaches all of its devices, and none of another store", async () => {
    const [ours, theirs] = [await suite.shop(), await suite.shop()];
    for (const shop of [ours, ours, theirs]) await registerWith((await openAccount(shop)).call);
    const usersOf = async (shop: Shop) =>
      (await listRegistrations(await tenantContext(shop))).map(({ user_id }) => user_id !== null);
    await revokeTokensOf(await tenantContext(ours), null);
    expect([await usersOf(ours), await usersOf(theirs)]).toEqual([[false, false], [true]]);
  });

  test("a device is not attached if its user is signed out during the registration", async (shop) => {
    const { id: userId } = await openAccount(shop);
    const ctx = await tenantContext(shop);
    const [token] = await listTokens(ctx, { userId });
    const actor = { kind: "user", role: "customer", userId, tokenId: token?.token_id as string } as const;
    const device = { platform: "web", subscription: newSubscription(), lang: undefined, subject: undefined } as const;
    await revokeTokensOf(ctx, userId);
    expect(await failureOf(registerDevice({ ...ctx, actor }, device))).toMatchObject({ code: 5207 });
    expect(await listRegistrations(ctx)).toEqual([]);
  });

  test("a login on another device, a refresh and a logout do not detach devices", async (shop) => {
    const account = await openAccount(shop);
    const { id } = await registerWith(account.call);
    const body = { email: account.email, password: goodPassword };
    const { data } = await shop.callAnonymously<{ token: string }>("POST /auth/login/", { body });
    const query = (token: string) => ({ query: { user_id: account.id, token }, body: {} });
    const refreshed = await shop.callAnonymously<{ token: string }>("POST /auth/refresh/", query(data.token));
    expect((await shop.callAnonymously("POST /auth/logout/", query(refreshed.data.token))).status).toBe(200);
    const devices = await listRegistrations(await tenantContext(shop));
    expect(devices.map((one) => [one.registration_id, one.user_id])).toEqual([[id, account.id]]);
  });

  test("users see their own devices, newest first and in pages, without endpoints, tokens and secrets", async () => {
    const shop = await suite.shop({ tenant: { language: "de" } });
    const [account, neighbour] = [await openAccount(shop), await openAccount(shop)];
    const subscription = newSubscription();
    const token = newGoogleToken();
    const browser = await registerWith(account.call, { subscription, topics: ["sale", "news"] });
    suite.app.clock.advance(1000);
    const phone = await registerWith(account.call, { platform: "android", token, lang: "fr" });
    await registerWith(neighbour.call);
    await registerWith(shop.callAnonymously);
    const { data, page, text } = await account.call<RegistrationReply[]>(`GET ${path}`);
    const shown = ({ id, platform, lang, topics, created_at, updated_at }: RegistrationReply) => {
      return { id, platform, lang, topics, created_at, updated_at };
    };
    expect(data as unknown).toEqual([shown(phone), shown(browser)]);
    expect([data[0]?.lang, data[1]?.lang, data[1]?.topics]).toEqual(["fr", "de", ["news", "sale"]]);
    expect(page).toEqual({ next_cursor: null, has_more: false, limit: 20 });
    const secrets = [token, subscription.endpoint, subscription.keys.auth, browser.management_secret];
    for (const secret of secrets) expect(text).not.toContain(secret);
    const query = { user_id: account.id, token: account.token, limit: "1", include_total: "true", fields: "platform" };
    const first = await shop.callAnonymously(`GET ${path}`, { query });
    expect(first.data as unknown).toEqual([{ id: phone.id, platform: "android" }]);
    expect(first.page).toMatchObject({ has_more: true, total: 2 });
    const cursor = first.page.next_cursor as string;
    const second = await shop.callAnonymously(`GET ${path}`, { query: { ...query, cursor } });
    expect(second.data as unknown).toEqual([{ id: browser.id, platform: "web" }]);
    const theirs = { query: { user_id: neighbour.id, token: neighbour.token, cursor } };
    expect((await shop.callAnonymously(`GET ${path}`, theirs)).code).toBe(5100);
  });

  test("users can remove only their own devices, and need no management secret for this", async () => {
    const [shop, elsewhere] = [await suite.shop(), await suite.shop()];
    const [account, neighbour] = [await openAccount(shop), await openAccount(shop)];
    const { id } = await registerWith(account.call);
    for (const { call } of [neighbour, await openAccount(elsewhere), await openAccount(shop, { role: "owner" })]) {
      expect((await call(`DELETE ${path}${id}/`)).code).toBe(5301);
    }
    const guest = await registerWith(shop.callAnonymously);
    expect((await account.call(`DELETE ${path}${guest.id}/`)).code).toBe(5301);
    const removed = await account.call(`DELETE ${path}${id}/`);
    expect([removed.status, removed.data]).toEqual([200, { id, deleted: true }]);
    expect((await account.call(`DELETE ${path}${id}/`)).code).toBe(5301);
    const left = await listRegistrations(await tenantContext(shop));
    expect(left.map(({ registration_id }) => registration_id)).toEqual([guest.id]);
  });
});
