import { beforeAll, describe, expect, test } from "bun:test";
import { type ServedShop, type ServedUser, type Session, useServedShops } from "../support/served-shop.ts";

const { startServedShop } = useServedShops();
const lifetimeMs = 30 * 86_400_000;

let shop: ServedShop;
beforeAll(async () => {
  shop = await startServedShop();
});

const login = (body: Record<string, unknown>) => shop.callAnonymously<Session>("POST /auth/login/", { body });
const use = (path: "refresh" | "logout", { user_id, token }: Session) =>
  shop.callAnonymously<Session>(`POST /auth/${path}/`, { query: { user_id, token } });

/** Returns the states of a user's tokens from the terminal, oldest first. */
async function statesOf({ email }: ServedUser): Promise<string[]> {
  const args = ["token", "list", "-n", shop.namespace, "--user", email, "--all-states"];
  const tokens = await shop.binary.json<{ state: string; created_at: string }[]>(...args);
  return tokens.toSorted((a, b) => a.created_at.localeCompare(b.created_at)).map(({ state }) => state);
}

/** Creates a user and signs in. */
async function openSession(): Promise<{ user: ServedUser; session: Session }> {
  const user = await shop.createUser();
  return { user, session: await shop.signIn(user) };
}

describe("§3 User token, row 1, §5: none → POST /auth/login/ → active", () => {
  test("with a valid email and password", async () => {
    const { id, email, password } = await shop.createUser();
    const { status, data } = await login({ email, password });
    expect([status, data.user_id]).toEqual([200, id]);
    expect(await shop.codeOf(data)).toBeUndefined();
  });

  test("not with another email or another password", async () => {
    const { email, password } = await shop.createUser();
    expect((await login({ email, password: `${password}x` })).code).toBe(5212);
    expect((await login({ email: `x${email}`, password })).code).toBe(5212);
  });

  test("the token of another user is untouched", async () => {
    const [one, other] = [await openSession(), await openSession()];
    await shop.signIn(one.user);
    expect(await shop.codeOf(other.session)).toBeUndefined();
  });
});

describe("§3 User token, row 2, §4 row 2, §5: active → POST /auth/refresh/ → active (rotated)", () => {
  test("a new token is issued, and the old one fails with 5207", async () => {
    const { session } = await openSession();
    const { status, data } = await use("refresh", session);
    expect(status).toBe(200);
    expect(data.token).not.toBe(session.token);
    expect(await shop.codeOf({ ...session, token: data.token })).toBeUndefined();
    expect(await shop.codeOf(session)).toBe(5207);
  });

  test("the new token lives its full time from the refresh", async () => {
    const { session } = await openSession();
    shop.clock.advance(lifetimeMs - 1);
    const { data } = await use("refresh", session);
    shop.clock.advance(lifetimeMs - 1);
    expect(await shop.codeOf({ ...session, token: data.token })).toBeUndefined();
  });

  test("only while the token is valid", async () => {
    const { session } = await openSession();
    expect((await use("refresh", { ...session, token: `${session.token.slice(0, -1)}_` })).code).toBe(5214);
    expect((await use("refresh", session)).status).toBe(200);
    expect((await use("refresh", session)).code).toBe(5214);
  });
});

describe("§3 User token, row 3, §4 row 3, §5: active → POST /auth/logout/ → revoked", () => {
  test("the token fails with 5207 from then on", async () => {
    const { session } = await openSession();
    expect((await use("logout", session)).status).toBe(200);
    expect(await shop.codeOf(session)).toBe(5207);
  });

  test("only while the token is valid", async () => {
    const { session } = await openSession();
    expect((await use("logout", session)).status).toBe(200);
    expect((await use("logout", session)).code).toBe(5214);
  });

  test("the user can sign in again", async () => {
    const { user, session } = await openSession();
    await use("logout", session);
    expect(await shop.codeOf(await shop.signIn(user))).toBeUndefined();
  });
});

test("§3 User token, row 4, §5 rule 4, §8: active → 30 days since issue → expired, and use fails with 5207", async () => {
  const { session } = await openSession();
  expect(Date.parse(session.expires_at)).toBe(shop.clock.now() + lifetimeMs);
  shop.clock.advance(lifetimeMs - 1);
  expect(await shop.codeOf(session)).toBeUndefined();
  shop.clock.advance(1);
  expect(await shop.codeOf(session)).toBe(5207);
});

describe("§3 User token, row 5, §4 row 5: active → successful POST /auth/password/reset/ → revoked", () => {
  test("every session must sign in again, with the new password", async () => {
    const { user, session } = await openSession();
    const [code, password] = [await shop.requestCode(user), "Another-Kettle-9026"];
    expect(await shop.codeOf(session)).toBeUndefined();
    const body = { email: user.email, code, password };
    expect((await shop.callAnonymously("POST /auth/password/reset/", { body })).status).toBe(200);
    expect(await shop.codeOf(session)).toBe(5207);
    expect((await use("refresh", session)).code).toBe(5214);
    expect(await shop.codeOf(await shop.signIn({ ...user, password }))).toBeUndefined();
  });

  test("a reset that fails revokes nothing", async () => {
    const { user, session } = await openSession();
    const code = await shop.requestCode(user);
    const body = { email: user.email, code, password: "weak" };
    expect((await shop.callAnonymously("POST /auth/password/reset/", { body })).code).toBe(5217);
    expect(await shop.codeOf(session)).toBeUndefined();
  });
});

describe("§3 User token, row 6, §5 rule 3, §8, one token is active per user: active → new POST /auth/login/ of the same user → replaced", () => {
  test("the token fails with 5207 from then on", async () => {
    const { user, session } = await openSession();
    const newer = await shop.signIn(user);
    expect([await shop.codeOf(session), await shop.codeOf(newer)]).toEqual([5207, undefined]);
    expect((await use("refresh", session)).code).toBe(5214);
  });

  test("a login that fails leaves the old session valid", async () => {
    const { user, session } = await openSession();
    expect((await login({ email: user.email, password: "wrong" })).code).toBe(5212);
    expect(await shop.codeOf(session)).toBeUndefined();
  });
});

test("§3 User token: each trigger brings the state of its row", async () => {
  const { user, session } = await openSession();
  const tick = () => shop.clock.advance(1);
  expect(await statesOf(user)).toEqual(["active"]);
  tick();
  const second = await use("refresh", session);
  expect(await statesOf(user)).toEqual(["rotated", "active"]);
  tick();
  await use("logout", second.data);
  expect(await statesOf(user)).toEqual(["rotated", "revoked"]);
  await shop.signIn(user);
  tick();
  await shop.signIn(user);
  expect(await statesOf(user)).toEqual(["rotated", "revoked", "replaced", "active"]);
  shop.clock.advance(lifetimeMs);
  expect(await statesOf(user)).toEqual(["rotated", "revoked", "replaced", "expired"]);
});
