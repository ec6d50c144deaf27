import { beforeAll, expect, test } from "bun:test";
import type { CallOptions } from "../../support/client.ts";
import { bearer, type Shop } from "../../support/factories.ts";
import { onDatabase } from "../../support/suite.ts";

type Table = [name: string, send: (shop: Shop, other: Shop) => CallOptions][];

const read = "GET /products/";
const create = "POST /products/";
const lamp = { title: "Lamp", price: 1 };
const parameters = ({ key: { app_id, app_secret } }: Shop) => ({ app_id, app_secret });
/** Replaces the last character of the secret. */
const almost = (secret: string) => secret.slice(0, -1) + (secret.endsWith("A") ? "B" : "A");

const accepted: Table = [
  ["Bearer", ({ key }) => ({ auth: `Bearer ${key.app_id}:${key.app_secret}` })],
  ["bEaReR in any case", ({ key }) => ({ auth: `bEaReR ${key.app_id}:${key.app_secret}` })],
  ["several spaces after the scheme", ({ key }) => ({ auth: `Bearer   ${key.app_id}:${key.app_secret}` })],
  ["the query", (shop) => ({ auth: null, query: parameters(shop) })],
  ["the header, with a right secret in the query", (shop) => ({ query: parameters(shop) })],
  ["the header, with any query", () => ({ query: { app_id: "app_x", app_secret: "wrong" } })],
  ["the header, with half of the credentials in the query", () => ({ query: { app_secret: "" } })],
  ["the query, with a header of another scheme", (shop) => ({ auth: "Basic eDp5", query: parameters(shop) })],
  ["the header, with a user as subject", () => ({ query: { user_id: "usr_1" } })],
  ["the header, with a wrong user token", () => ({ query: { user_id: "usr_1", token: "v2.x" } })],
  ["the header, with half of the user credentials", () => ({ query: { token: "v2.x" } })],
];

const malformed: Table = [
  ["no secret after the colon", ({ key }) => ({ auth: `Bearer ${key.app_id}:` })],
  ["no id before the colon", ({ key }) => ({ auth: `Bearer :${key.app_secret}` })],
  ["no colon", ({ key }) => ({ auth: `Bearer ${key.app_id}${key.app_secret}` })],
  ["a space at the colon", ({ key }) => ({ auth: `Bearer ${key.app_id}: ${key.app_secret}` })],
  ["only the colon", () => ({ auth: "Bearer :" })],
  ["two credentials in one header", (shop) => ({ auth: `${shop.auth}, ${shop.auth}` })],
  ["a secret of 257 characters", ({ key }) => ({ auth: `Bearer ${key.app_id}:${"x".repeat(257)}` })],
  ["a malformed header, with any query", (shop) => ({ auth: "Bearer x", query: parameters(shop) })],
  ["an id alone in the query", ({ key }) => ({ auth: null, query: { app_id: key.app_id } })],
  ["an empty secret in the query", ({ key }) => ({ auth: null, query: { app_id: key.app_id, app_secret: "" } })],
  ["a space in the query's secret", ({ key }) => ({ auth: null, query: { app_id: key.app_id, app_secret: "a b" } })],
  ["a NUL in the query's id", ({ key }) => ({ auth: null, query: { app_id: "app\0", app_secret: key.app_secret } })],
  ["letters of another script", ({ key }) => ({ auth: null, query: { app_id: key.app_id, app_secret: "тайна" } })],
];

const wrong: Table = [
  ["a secret with a wrong last character", ({ key }) => ({ auth: `Bearer ${key.app_id}:${almost(key.app_secret)}` })],
  ["a secret with one additional character", (shop) => ({ auth: `${shop.auth}A` })],
  ["a secret that is followed by a colon", (shop) => ({ auth: `${shop.auth}:` })],
  ["an unknown id", ({ key }) => ({ auth: `Bearer app_01h455vb4pex5vsknk084sn02q:${key.app_secret}` })],
  ["an id in upper case", ({ key }) => ({ auth: `Bearer ${key.app_id.toUpperCase()}:${key.app_secret}` })],
  ["an id that is SQL", ({ key }) => ({ auth: `Bearer 'or'1'='1:${key.app_secret}` })],
  ["another store's key", (_, other) => ({ auth: other.auth })],
  ["another store's secret", (shop, other) => ({ auth: `Bearer ${shop.key.app_id}:${other.key.app_secret}` })],
  ["a wrong secret in the query", ({ key }) => ({ auth: null, query: { app_id: key.app_id, app_secret: "wrong" } })],
  ["a wrong header, with any query", (shop) => ({ auth: "Bearer a:b", query: parameters(shop) })],
];

const nothing: Table = [
  ["no credentials", () => ({ auth: null })],
  ["Basic", ({ key }) => ({ auth: `Basic ${btoa(`${key.app_id}:${key.app_secret}`)}` })],
  ["no scheme", ({ key }) => ({ auth: `${key.app_id}:${key.app_secret}` })],
  ["a scheme that only begins like Bearer", ({ key }) => ({ auth: `BearerX ${key.app_id}:${key.app_secret}` })],
  [
    "wrong app credentials and a wrong user token",
    () => ({ auth: "Bearer a:b", query: { user_id: "usr_1", token: "v2.x" } }),
  ],
  [
    "malformed app credentials and a wrong user token",
    () => ({ auth: "Bearer x", query: { user_id: "usr_1", token: "v2.x" } }),
  ],
  ["wrong app credentials and half of the user credentials", () => ({ auth: "Bearer a:b", query: { token: "v2.x" } })],
];

onDatabase("file", (suite) => {
  let shop: Shop;
  let other: Shop;
  beforeAll(async () => {
    shop = await suite.shop();
    other = await suite.shop();
  });

  for (const [code, meaning, table] of [
    [undefined, "is taken", accepted],
    [5202, "is 5202", malformed],
    [5203, "is 5203", wrong],
    [5206, "is 5206", nothing],
  ] as const) {
    for (const [name, send] of table) {
      test(`app auth: ${name} ${meaning}`, async () => {
        expect((await shop.call(read, { ...send(shop, other) })).code).toBe(code as never);
      });
    }
  }

  test("app auth: credentials in the body are used, but the query takes precedence for each name", async () => {
    const { app_id, app_secret } = parameters(shop);
    const bodies: [expected: number | undefined, query: Record<string, string>, body: Record<string, unknown>][] = [
      [undefined, {}, { app_id, app_secret }],
      [undefined, { app_id }, { app_secret }],
      [undefined, { app_secret }, { app_id }],
      [undefined, { app_id, app_secret }, { app_id: "app_x", app_secret: "wrong" }],
      [5203, { app_secret: "wrong" }, { app_id, app_secret }],
      [5203, { app_id: "app_x" }, { app_id, app_secret }],
      [5202, { app_secret: "" }, { app_id, app_secret }],
      [5202, {}, { app_id }],
      [5202, {}, { app_secret }],
      [5202, {}, { app_id, app_secret: 5 }],
      [5202, {}, { app_id, app_secret: null }],
      [5202, {}, { app_id: [app_id], app_secret }],
      [5203, {}, { app_id, app_secret: "wrong" }],
    ];
    // An invalid user token in the query must not hide a valid key in the body.
    bodies.push([undefined, { user_id: "usr_1", token: "v2.x" }, { app_id, app_secret }]);
    for (const [expected, query, body] of bodies) {
      const sent = { auth: null, query, body: { ...lamp, ...body } };
      const { code } = await shop.call(create, sent);
      expect({ query, body, code }).toEqual({ query, body, code: expected });
    }
  });

  test("app auth: the header takes precedence over the body", async () => {
    const body = { ...lamp, app_id: "app_x", app_secret: "wrong" };
    expect((await shop.call(create, { body })).status).toBe(201);
    const good = { ...lamp, ...parameters(shop) };
    expect((await shop.call(create, { body: good, auth: "Bearer a:b" })).code).toBe(5203);
  });

  test("app auth: a GET reads no credentials from a body", async () => {
    const { request } = await import("../../support/raw-http.ts");
    const body = JSON.stringify({ ...parameters(shop), namespace: shop.namespace });
    const { status } = await request(suite.app, {
      head: `GET /products/?namespace=${shop.namespace} HTTP/1.1`,
      headers: { "content-type": "application/json", "content-length": String(body.length) },
      body,
    });
    expect(status).toBe(401);
  });

  test("every wrong credential gets the same reply, which does not reveal the right part", async () => {
    const unpublished = await shop.issueKey({ publish: false });
    const auths = [
      `Bearer ${shop.key.app_id}:wrong`,
      `Bearer app_01h455vb4pex5vsknk084sn02q:${shop.key.app_secret}`,
      other.auth,
      bearer(unpublished),
    ];
    const errors = new Set<string>();
    for (const auth of auths) errors.add(JSON.stringify((await shop.call(read, { auth })).error));
    expect(errors.size).toBe(1);
  });
});
