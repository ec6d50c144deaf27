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
