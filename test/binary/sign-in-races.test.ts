import { beforeAll, describe, expect, test } from "bun:test";
import type { ApiReply } from "../support/client.ts";
import { type ServedShop, type ServedUser, type Session, useServedShops } from "../support/served-shop.ts";

const { startServedShop } = useServedShops();

/** Runs work this many times at once. */
const atOnce = <T>(times: number, work: (index: number) => Promise<T>) =>
  Promise.all(Array.from({ length: times }, (_, index) => work(index)));

/** Counts replies by code, or by status for a success. */
function tally(replies: readonly Pick<ApiReply, "code" | "status">[]): Record<number, number> {
  const counts: Record<number, number> = {};
  for (const { code, status } of replies) counts[code ?? status] = (counts[code ?? status] ?? 0) + 1;
  return counts;
}

// Races within one process are in test/http/sessions.
describe("with two workers", () => {
  let shop: ServedShop;
  beforeAll(async () => {
    // With the real clock, so that the requests arrive at different times.
    shop = await startServedShop({ workers: 2, fakeClock: false });
  });

  const post = <T = Record<string, unknown>>(path: string, body: unknown, query: Record<string, string> = {}) =>
    shop.callAnonymously<T>(`POST /auth/${path}/`, { body, query });
  const login = (user: ServedUser, more: Record<string, unknown> = {}) =>
    post<Session>("login", { ...user.login, ...more });
  const passwordOf = (index: number) => `Racing-Kettle-${String(index).padStart(4, "0")}`;
  const otherThan = (code: string, index: number) => String((Number(code) + 1 + index) % 1_000_000).padStart(6, "0");

  async function countAlive(sessions: readonly Session[]): Promise<number> {
    const codes = await Promise.all(sessions.map((session) => shop.codeOf(session)));
    for (const code of codes) expect([undefined, 5207]).toContain(code);
    return codes.filter((code) => code === undefined).length;
  }

  test("of 50 concurrent resets with the right code one succeeds, and its password signs in", async () => {
    const user = await shop.createUser();
    const code = await shop.requestCode(user);
    const replies = await atOnce(50, (index) =>
      post("password/reset", { email: user.email, code, password: passwordOf(index) }),
    );
    expect(tally(replies)).toEqual({ 200: 1, 5216: 49 });
    const winner = replies.findIndex(({ status }) => status === 200);
    expect((await login(user, { password: passwordOf((winner + 1) % 50) })).code).toBe(5212);
    expect((await login(user)).code).toBe(5212);
    expect((await login(user, { password: passwordOf(winner) })).status).toBe(200);
  });

  test("with concurrent wrong codes, the right code is used at most once, or locked after five", async () => {
    const { email } = await shop.createUser();
    const code = await shop.requestCode({ email });
    const replies = await atOnce(50, (index) =>
      post("password/reset", {
        email,
        code: index % 10 === 9 ? code : otherThan(code, index),
        password: passwordOf(index),
      }),
    );
    const counts = tally(replies);
    expect(counts[200] ?? 0).toBeLessThanOrEqual(1);
    // Once it is used, every code is an old one; before that, five wrong ones are verified.
    if (!counts[200]) expect(counts).toEqual({ 5216: 5, 5213: 45 });
  });

  test("the same one-time code used ten times at once gives one login", async () => {
    const user = await shop.createUser();
    const authenticator = await shop.enrol(user);
    const otp = authenticator.code(1);
    const { 200: logins, 5212: judged = 0, 5213: refused = 0 } = tally(await atOnce(10, () => login(user, { otp })));
    expect([logins, judged + refused]).toEqual([1, 9]);
  });

  test("the same recovery code used twice at once gives one login", async () => {
    const user = await shop.createUser();
    const { recoveryCodes } = await shop.enrol(user);
    const otp = recoveryCodes[0];
    expect(tally(await atOnce(2, () => login(user, { otp })))).toEqual({ 200: 1, 5212: 1 });
  });

  test("50 concurrent valid logins all succeed, and one token is active at the end", async () => {
    const user = await shop.createUser();
    const replies = await atOnce(50, () => login(user));
    expect(tally(replies)).toEqual({ 200: 50 });
    expect(await countAlive(replies.map(({ data }) => data))).toBe(1);
  });

  test("of 50 concurrent refreshes of one token one succeeds, and 49 get 5214", async () => {
    const { user_id, token } = await shop.signIn(await shop.createUser());
    const replies = await atOnce(50, () => post<Session>("refresh", undefined, { user_id, token }));
    expect(tally(replies)).toEqual({ 200: 1, 5214: 49 });
    const winner = replies.find(({ status }) => status === 200)?.data as Session;
    expect([await shop.codeOf(winner), await shop.codeOf({ ...winner, token })]).toEqual([undefined, 5207]);
  });

  test("logins with the old password during a reset leave no session", async () => {
    for (let round = 0; round < 3; round++) {
      const user = await shop.createUser();
      const code = await shop.requestCode(user);
      const [reset, ...logins] = await Promise.all([
        post("password/reset", { email: user.email, code, password: passwordOf(0) }),
        ...Array.from({ length: 10 }, () => login(user)),
      ]);
      expect(reset?.status).toBe(200);
      const sessions = logins.filter(({ status }) => status === 200).map(({ data }) => data as Session);
      expect(await countAlive(sessions)).toBe(0);
    }
  }, 30_000);

  test("a token that a command revokes fails on the next request", async () => {
    const user = await shop.createUser();
    for (let round = 0; round < 4; round++) {
      const session = await shop.signIn(user);
      expect(await Promise.all([...Array(6)].map(() => shop.codeOf(session)))).toEqual(Array(6).fill(undefined));
      const by = round % 2 === 0 ? user.id : user.email;
      expect(await shop.binary.json("token", "revoke", "-n", shop.namespace, "--user", by, "--yes")).toEqual({
        revoked: 1,
      });
      expect(await Promise.all([...Array(6)].map(() => shop.codeOf(session)))).toEqual(Array(6).fill(5207));
    }
  }, 30_000);
});
