import { beforeAll, describe, expect, test } from "bun:test";
import { type ApiReply, type CallOptions, newAddress } from "../support/client.ts";
import { type ServedShop, useServedShops } from "../support/served-shop.ts";

const { startServedShop } = useServedShops();
const minuteMs = 60_000;
const strong = "Another-Kettle-9026";

let shop: ServedShop;
beforeAll(async () => {
  shop = await startServedShop();
});

const login = (body: object, options: CallOptions = {}) =>
  shop.callAnonymously("POST /auth/login/", { body, ...options });
const codesOf = async (times: number, work: () => Promise<ApiReply>) => {
  const codes: number[] = [];
  for (let n = 0; n < times; n++) {
    const { code, status } = await work();
    codes.push(code ?? status);
  }
  return codes;
};
const times = (count: number, code: number) => Array<number>(count).fill(code);
const retryAfter = ({ headers }: ApiReply) => Number(headers.get("retry-after"));

describe("§8 Auth attempts: 10 per minute per IP (5209)", () => {
  const attempt = (address: string) => () =>
    shop.callAnonymously("POST /auth/password/forgot/", { address, body: { email: "nobody@example.com" } });

  test("the eleventh attempt of a minute is refused, even with valid credentials", async () => {
    const address = newAddress();
    expect(await codesOf(11, attempt(address))).toEqual([...times(10, 200), 5209]);
    const user = await shop.createUser();
    expect((await login(user.login, { address })).code).toBe(5209);
    expect((await shop.callAnonymously("GET /products/", { address, auth: "Bearer x:y" })).code).toBe(5209);
  });

  test("after the limit, the next attempt is admitted a minute after the first one, as Retry-After says", async () => {
    const address = newAddress();
    expect(await codesOf(10, attempt(address))).toEqual(times(10, 200));
    expect(retryAfter(await attempt(address)())).toBe(60);
    shop.clock.advance(minuteMs - 1);
    const last = await attempt(address)();
    expect([last.code, retryAfter(last)]).toEqual([5209, 1]);
    shop.clock.advance(1);
    expect(await codesOf(11, attempt(address))).toEqual([...times(10, 200), 5209]);
  });

  test("the window slides: attempts expire one by one", async () => {
    const address = newAddress();
    expect((await attempt(address)()).status).toBe(200);
    shop.clock.advance(30_000);
    expect(await codesOf(10, attempt(address))).toEqual([...times(9, 200), 5209]);
    shop.clock.advance(30_000);
    expect(await codesOf(2, attempt(address))).toEqual([200, 5209]);
  });

  test("each address has its own limit, and calls with valid credentials never count and are never blocked", async () => {
    const address = newAddress();
    const good = () => shop.call("GET /products/", { address });
    expect(await codesOf(11, good)).toEqual(times(11, 200));
    expect(await codesOf(11, attempt(address))).toEqual([...times(10, 200), 5209]);
    expect(await codesOf(2, good)).toEqual(times(2, 200));
    expect((await attempt(newAddress())()).status).toBe(200);
  });
});

describe("§8 Login failures: 3 per 20 minutes per email (5213)", () => {
  const wrong = (user: { email: string }) => () => login({ email: user.email, password: "wrong" });

  test("after three failures, logins from any address are refused, even with the right password", async () => {
    const user = await shop.createUser();
    expect(await codesOf(4, wrong(user))).toEqual([...times(3, 5212), 5213]);
    expect((await login(user.login)).code).toBe(5213);
  });

  test("the next login is verified 20 minutes after the first failure and not earlier, as Retry-After says", async () => {
    const user = await shop.createUser();
    await codesOf(3, wrong(user));
    expect(retryAfter(await login(user.login))).toBe(20 * 60);
    shop.clock.advance(20 * minuteMs - 1);
    const last = await login(user.login);
    expect([last.code, retryAfter(last)]).toEqual([5213, 1]);
    shop.clock.advance(1);
    expect((await login(user.login)).status).toBe(200);
  });

  test("unknown emails, emails in other case and wrong one-time codes count as failures; a login that only lacks its otp does not", async () => {
    const user = await shop.createUser();
    const authenticator = await shop.enrol(user);
    expect(await codesOf(5, () => login(user.login))).toEqual(times(5, 5211));
    const wrongOtp = () => login({ ...user.login, email: user.email.toUpperCase(), otp: authenticator.wrongCode() });
    expect(await codesOf(3, wrongOtp)).toEqual(times(3, 5212));
    expect(await codesOf(1, wrong(user))).toEqual([5213]);
    const email = `nobody-${Bun.randomUUIDv7("hex")}@example.com`;
    expect(await codesOf(4, wrong({ email }))).toEqual([...times(3, 5212), 5213]);
  });

  test("a successful login resets the count of failures", async () => {
    const user = await shop.createUser();
    for (let round = 0; round < 2; round++) {
      expect(await codesOf(2, wrong(user))).toEqual(times(2, 5212));
      expect((await login(user.login)).status).toBe(200);
    }
  });

  test("each email has its own limit in each store", async () => {
    const [one, other] = [await shop.createUser(), await shop.createUser()];
    await codesOf(4, wrong(one));
    expect((await login(other.login)).status).toBe(200);
    await shop.binary.run("tenant", "create", "next-door");
    expect((await login({ email: one.email, password: "wrong" }, { namespace: "next-door" })).code).toBe(5212);
  });
});

describe("§8 Login attempts: 30 per 20 minutes per IP per store", () => {
  // One test checks everything, because each attempt computes a password hash.
  test("the thirty-first login is refused until 20 minutes after the first, as Retry-After says; other addresses and stores have their own limits", async () => {
    const user = await shop.createUser();
    const address = newAddress();
    const attempt = (options: CallOptions = {}) => login(user.login, { address, ...options });
    // The test makes ten attempts a minute, because another limit allows no more.
    for (let round = 0; round < 3; round++) {
      expect(await codesOf(10, attempt)).toEqual(times(10, 200));
      shop.clock.advance(minuteMs);
    }
    expect((await attempt()).code).toBe(5213);
    expect((await login(user.login)).status).toBe(200);
    await shop.binary.run("tenant", "create", "across");
    expect((await attempt({ namespace: "across" })).code).toBe(5212);
    shop.clock.advance(17 * minuteMs - 1);
    const last = await attempt();
    expect([last.code, retryAfter(last)]).toEqual([5213, 1]);
    shop.clock.advance(1);
    expect((await attempt()).status).toBe(200);
  });
});

describe("§8 User token lifetime: 30 days by default", () => {
  test("a store may set another lifetime of tokens", async () => {
    await shop.binary.json("tenant", "create", "brief", "--token-lifetime", "12h");
    const key = await shop.binary.json("key", "issue", "-n", "brief", "--name", "web", "--publish");
    const call = shop.clientOf({ namespace: "brief", auth: `Bearer ${key.app_id}:${key.app_secret}` });
    const body = { email: "a@example.com", password: "Vermilion-Kettle-4871" };
    expect((await call("POST /users/", { body })).status).toBe(201);
    const { data } = await call<{ expires_at: string }>("POST /auth/login/", { body, auth: null });
    expect(Date.parse(data.expires_at)).toBe(shop.clock.now() + 12 * 3_600_000);
  });
});

describe("§8 Reset codes", () => {
  const reset = (email: string, code: string, password = strong) =>
    shop.callAnonymously("POST /auth/password/reset/", { body: { email, code, password } });

  test("reset codes have 6 digits, and a code of another length is never accepted", async () => {
    const { email } = await shop.createUser();
    const code = await shop.requestCode({ email });
    expect(code).toMatch(/^\d{6}$/);
    expect([5102, 5216]).toContain((await reset(email, code.slice(0, 5))).code as number);
    expect([5102, 5216]).toContain((await reset(email, `${code}0`)).code as number);
    expect((await reset(email, code)).status).toBe(200);
  });
});

test("§8 Password minimum length: 16 characters", async () => {
  const { email } = await shop.createUser();
  const code = await shop.requestCode({ email });
  const body = { email, code, password: "Vermilion-Ket-48" };
  const short = { ...body, password: body.password.slice(0, 15) };
  expect((await shop.callAnonymously("POST /auth/password/reset/", { body: short })).code).toBe(5217);
  expect((await shop.callAnonymously("POST /auth/password/reset/", { body })).status).toBe(200);
});
