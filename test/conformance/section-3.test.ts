import { beforeAll, describe, expect, test } from "bun:test";
import { type ServedShop, type ServedUser, type Session, useServedShops } from "../support/served-shop.ts";

const { startServedShop } = useServedShops();
const lifetimeMs = 30 * 86_400_000;
const validMs = 15 * 60_000;
const password = "Another-Kettle-9026";

let shop: ServedShop;
beforeAll(async () => {
  shop = await startServedShop();
});

const login = (body: Record<string, unknown>) => shop.callAnonymously<Session>("POST /auth/login/", { body });
const use = (path: "refresh" | "logout", { user_id, token }: Session) =>
  shop.callAnonymously<Session>(`POST /auth/${path}/`, { query: { user_id, token } });
const reset = (user: ServedUser, code: string, to = password) =>
  shop.callAnonymously("POST /auth/password/reset/", { body: { email: user.email, code, password: to } });
const signInBy = ({ email }: ServedUser, by: string) => login({ email, password: by });
/** Returns a different code of the same form. */
const wrong = (code: string) => String((Number(code) + 1) % 1_000_000).padStart(6, "0");

async function issueCode(): Promise<{ user: ServedUser; code: string }> {
  const user = await shop.createUser();
  return { user, code: await shop.requestCode(user) };
}

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
  test("a login with a valid email and password returns an active token", async () => {
    const { id, email, password } = await shop.createUser();
    const { status, data } = await login({ email, password });
    expect([status, data.user_id]).toEqual([200, id]);
    expect(await shop.codeOf(data)).toBeUndefined();
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
    expect((await use("refresh", session)).code).toBe(5214);
  });

  test("the new token has its full lifetime from the refresh on", async () => {
    const { session } = await openSession();
    shop.clock.advance(lifetimeMs - 1);
    const { data } = await use("refresh", session);
    shop.clock.advance(lifetimeMs - 1);
    expect(await shop.codeOf({ ...session, token: data.token })).toBeUndefined();
  });
});

test("§3 User token, row 3, §4 row 3, §5: active → POST /auth/logout/ → revoked, and the user can sign in again", async () => {
  const { user, session } = await openSession();
  expect((await use("logout", session)).status).toBe(200);
  expect(await shop.codeOf(session)).toBe(5207);
  expect((await use("logout", session)).code).toBe(5214);
  expect(await shop.codeOf(await shop.signIn(user))).toBeUndefined();
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
  test("the user must sign in again, with the new password", async () => {
    const { user, session } = await openSession();
    const code = await shop.requestCode(user);
    expect(await shop.codeOf(session)).toBeUndefined();
    expect((await reset(user, code)).status).toBe(200);
    expect(await shop.codeOf(session)).toBe(5207);
    expect((await use("refresh", session)).code).toBe(5214);
    expect(await shop.codeOf(await shop.signIn({ ...user, password }))).toBeUndefined();
  });

  test("a reset that fails revokes nothing", async () => {
    const { user, session } = await openSession();
    expect((await reset(user, await shop.requestCode(user), "weak")).code).toBe(5217);
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

  test("a failed login does not end the old session", async () => {
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

test("§3 Reset code, row 1: none → POST /auth/password/forgot/ → issued, a 6-digit code sent to the inbox", async () => {
  const { user, code } = await issueCode();
  expect(code).toMatch(/^\d{6}$/);
  expect(shop.mailbox.received.filter((mail) => mail.to === user.email)).toHaveLength(1);
  expect((await reset(user, code)).status).toBe(200);
});

describe("§3 Reset code, row 2, §8 validity: issued → POST /auth/password/reset/ → used, password changed", () => {
  test("after a reset with the correct code, the new password signs in, the old password does not, and the reset itself signs nobody in", async () => {
    const { user, code } = await issueCode();
    const { status, text } = await reset(user, code);
    expect(status).toBe(200);
    expect(text).not.toMatch(/v2\.|expires_at/);
    expect((await signInBy(user, user.password)).code).toBe(5212);
    expect((await signInBy(user, password)).status).toBe(200);
  });

  test("another code, or the code of another user, does not change the password", async () => {
    const [one, other] = [await issueCode(), await issueCode()];
    expect((await reset(one.user, wrong(one.code))).code).toBe(5216);
    if (one.code !== other.code) expect((await reset(one.user, other.code)).code).toBe(5216);
    expect((await signInBy(one.user, one.user.password)).status).toBe(200);
  });

  test("a code works within 15 minutes", async () => {
    const { user, code } = await issueCode();
    shop.clock.advance(validMs - 1);
    expect((await reset(user, code)).status).toBe(200);
  });

  test("a code works after fewer than 5 wrong tries", async () => {
    const { user, code } = await issueCode();
    for (let n = 0; n < 4; n++) expect((await reset(user, wrong(code))).code).toBe(5216);
    expect((await reset(user, code)).status).toBe(200);
  });

  test("a code works with a strong password; a weak password neither uses up the code nor counts as a try", async () => {
    const { user, code } = await issueCode();
    for (let n = 0; n < 6; n++) expect((await reset(user, code, "Too-weak-1")).code).toBe(5217);
    expect((await reset(user, code)).status).toBe(200);
  });
});

test("§3 Reset code, row 3, §8 validity: issued → 15 minutes elapsed → expired, 5216 on use", async () => {
  const { user, code } = await issueCode();
  shop.clock.advance(validMs);
  expect((await reset(user, code)).code).toBe(5216);
  expect((await signInBy(user, user.password)).status).toBe(200);
});

test("§3 Reset code, row 4, §8 wrong tries: issued → 5 wrong tries → locked, and a new code can be requested", async () => {
  const { user, code } = await issueCode();
  for (let n = 0; n < 5; n++) await reset(user, wrong(code));
  for (const tried of [wrong(code), code]) expect((await reset(user, tried)).code).toBe(5213);
  expect((await signInBy(user, user.password)).status).toBe(200);
  expect((await reset(user, await shop.requestCode(user))).status).toBe(200);
});

test("§3 Reset code, row 5, §8 single use: used → reuse → rejected with 5216", async () => {
  const { user, code } = await issueCode();
  expect((await reset(user, code)).status).toBe(200);
  expect((await reset(user, code, "Yet-Another-Kettle-1").then((reply) => reply.code)) ?? "taken").toBe(5216);
  expect((await signInBy(user, password)).status).toBe(200);
});

test("§3 Reset code: a successful reset does not sign the user in; the following login asks for the two-factor code if the user has one", async () => {
  const user = await shop.createUser();
  const authenticator = await shop.enrol(user);
  expect((await reset(user, await shop.requestCode(user))).status).toBe(200);
  shop.clock.advance(30_000);
  expect((await signInBy(user, password)).code).toBe(5211);
  expect((await login({ email: user.email, password, otp: authenticator.code() })).status).toBe(200);
});
