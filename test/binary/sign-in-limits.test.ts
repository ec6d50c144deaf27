import { beforeAll, describe, expect, test } from "bun:test";
import { newAddress } from "../support/client.ts";
import { type ServedShop, useServedShops } from "../support/served-shop.ts";

const { startServedShop } = useServedShops();
const forgot = { body: { email: "nobody@example.com" } };

describe.each([1, 2])("with %d worker(s)", (workers) => {
  let shop: ServedShop;
  beforeAll(async () => {
    shop = await startServedShop({ workers, fakeClock: false });
  });

  test("the fourth wrong password gets 5213 from any address, and then so does the right one", async () => {
    const user = await shop.createUser();
    const codes: (number | undefined)[] = [];
    for (const password of ["wrong", "wrong", "wrong", "wrong", user.password, user.password]) {
      const body = { email: user.email, password };
      codes.push((await shop.callAnonymously("POST /auth/login/", { body })).code);
    }
    expect(codes).toEqual([5212, 5212, 5212, 5213, 5213, 5213]);
  });

  test("the eleventh attempt of a minute gets 5209, also under concurrency", async () => {
    const address = newAddress();
    const replies = await Promise.all(
      [...Array(30)].map(() => shop.callAnonymously("POST /auth/password/forgot/", { ...forgot, address })),
    );
    expect(replies.filter(({ status }) => status === 200)).toHaveLength(10);
    for (const { code } of replies) expect([undefined, 5209]).toContain(code);
  });

  test("hundreds of valid app-key calls from one address are never limited, even during failures from there", async () => {
    const address = newAddress();
    for (let n = 0; n < 12; n++) await shop.call("GET /products/", { address, auth: "Bearer x:y" });
    for (let round = 0; round < 6; round++) {
      const replies = await Promise.all([...Array(50)].map(() => shop.call("GET /products/", { address })));
      expect(replies.filter(({ status }) => status !== 200)).toEqual([]);
    }
  }, 30_000);

  test("valid user tokens from one address are never limited either", async () => {
    const address = newAddress();
    const { user_id, token } = await shop.signIn(await shop.createUser());
    for (let round = 0; round < 4; round++) {
      const replies = await Promise.all(
        [...Array(50)].map(() => shop.callAnonymously("GET /products/", { address, query: { user_id, token } })),
      );
      expect(replies.filter(({ status }) => status !== 200)).toEqual([]);
    }
  });

  test("values in X-Forwarded-For before the proxy's own change nothing", async () => {
    const address = newAddress();
    const codes: (number | undefined)[] = [];
    for (let n = 0; n < 12; n++) {
      const headers = { "x-forwarded-for": `${newAddress()}, ${address}` };
      codes.push((await shop.callAnonymously("POST /auth/password/forgot/", { ...forgot, headers })).code);
    }
    expect(codes).toEqual([...Array(10).fill(undefined), 5209, 5209]);
  });
});

describe("without --trusted-proxy", () => {
  let shop: ServedShop;
  beforeAll(async () => {
    shop = await startServedShop({ workers: 2, fakeClock: false, flags: [] });
  });

  test("a forged X-Forwarded-For changes nothing: all attempts count for the socket's address", async () => {
    const codes: (number | undefined)[] = [];
    for (let n = 0; n < 12; n++) {
      // The client names another address in the header each time.
      codes.push((await shop.callAnonymously("POST /auth/password/forgot/", forgot)).code);
    }
    expect(codes).toEqual([...Array(10).fill(undefined), 5209, 5209]);
    const headers = { forwarded: "for=203.0.113.9", "x-real-ip": "203.0.113.9" };
    expect((await shop.callAnonymously("POST /auth/password/forgot/", { ...forgot, headers })).code).toBe(5209);
  });
});
