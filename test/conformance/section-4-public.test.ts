import { beforeAll, describe, expect, test } from "bun:test";
import { createECDH, randomBytes } from "node:crypto";
import type { ProductReply } from "../support/factories.ts";
import { type ServedShop, useServedShops } from "../support/served-shop.ts";

const { startServedShop } = useServedShops();

let shop: ServedShop;
let productId: string;
beforeAll(async () => {
  shop = await startServedShop();
  const product = { title: "Lamp", price: 19.99 };
  productId = (await shop.call<ProductReply>("POST /products/", { body: product })).data.id;
});

interface PublicCall {
  request: string;
  query?: Record<string, string>;
  body?: Record<string, unknown>;
  /** The code of the error; undefined for a success. */
  code?: number;
}

function subscription() {
  const browser = createECDH("prime256v1");
  const keys = { p256dh: browser.generateKeys("base64url"), auth: randomBytes(16).toString("base64url") };
  return { endpoint: `https://push.example.com/${randomBytes(8).toString("hex")}`, keys };
}

const resource = () => ({ resource_type: "product", resource_id: productId });
const publicCalls: [string, () => PublicCall[]][] = [
  [
    "likes",
    () => [
      { request: "GET /likes/", query: resource() },
      { request: "GET /likes/" },
      { request: "POST /likes/", body: resource() },
      { request: "DELETE /likes/", query: resource() },
    ],
  ],
  [
    "views",
    () => [
      { request: "GET /views/", query: resource() },
      { request: "POST /views/", body: resource() },
    ],
  ],
  [
    "bookmarks",
    () => [
      { request: "GET /bookmarks/", query: resource() },
      { request: "GET /bookmarks/" },
      { request: "POST /bookmarks/", body: resource() },
      { request: "DELETE /bookmarks/", query: resource() },
    ],
  ],
  [
    "notification register",
    () => [
      { request: "POST /notifications/register/", body: { platform: "web", subscription: subscription() } },
      { request: "GET /notifications/register/" },
    ],
  ],
  ["forgot password", () => [{ request: "POST /auth/password/forgot/", body: { email: "ada@example.com" } }]],
  [
    "reset password",
    () => [
      {
        request: "POST /auth/password/reset/",
        body: { email: "ada@example.com", code: "000000", password: "Vermilion-Kettle-4871" },
        code: 5216,
      },
    ],
  ],
];

describe("§4 Public endpoints need no credentials, but still namespace", () => {
  test.each(publicCalls)("%s", async (_name, calls) => {
    for (const { request, code, ...sent } of calls()) {
      const call = (namespace: string | null) => shop.callAnonymously(request, { ...sent, namespace });
      expect([request, (await call(shop.namespace)).code]).toEqual([request, code]);
      expect([request, (await call(null)).code]).toEqual([request, 5101]);
      expect([request, (await call("no-such-store")).code]).toEqual([request, 5215]);
    }
  });
});
