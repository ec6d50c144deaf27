import { beforeAll, expect, test } from "bun:test";
import { routes } from "../../../src/server/api/routes.ts";
import { ignoresCredentials } from "../../../src/server/http/route.ts";
import { setOrigins } from "../../../src/server/modules/app-keys/origins.ts";
import { keyPurposes } from "../../../src/server/security/scopes.ts";
import type { CallOptions } from "../../support/client.ts";
import { nameOf, rowsOf } from "../../support/isolation.ts";
import { callsOf, openWorld, type RouteCall, type routeCalls, type World } from "../../support/route-calls.ts";
import { onDatabase } from "../../support/suite.ts";

const origin = "https://shop.example.com";
/** All routes that a storefront key may call. Routes without credentials are open to everyone. */
const allowed = [
  "GET /categories/",
  "GET /categories/:id/",
  "GET /products/",
  "GET /products/:id/",
  "GET /products/:id/variants/",
  "GET /products/:id/variants/:variant_id/",
  "GET /shipping/rates/",
  "GET /store/",
];
/** Routes that write. Their replies contain nothing about the store. */
const signUps = ["POST /auth/code/", "POST /users/sign-up/", "POST /users/verify/", "POST /users/verify/resend/"];
/** Routes that show an order only to the visitor who has its token. */
const withToken = [
  ...["GET /orders/:id/", "POST /orders/:id/cancel/", "POST /orders/:id/checkout/", "POST /orders/:id/checkout/check/"],
  "POST /orders/:id/invoice/",
];
/** Routes that a buyer calls. The replies for lost links and withdrawals are the same for every order. */
const purchases = ["POST /orders/", "POST /orders/access/", "POST /orders/withdrawals/"];
const isPublic = (route: (typeof routes)[number]) => route.access.some(({ kind }) => kind === "public");

onDatabase("file", (suite) => {
  let world: World;
  let page: CallOptions;
  beforeAll(async () => {
    world = await openWorld(await suite.shop());
    const key = await world.shop.issueKey({ scopes: [...keyPurposes.storefront] });
    await setOrigins(suite.app.system, { appId: key.app_id, origins: [origin] });
    page = { query: { app_id: key.app_id, app_secret: key.app_secret }, headers: { origin } };
  });
  /** Sends a call with the storefront key. The call succeeds with the store's own key. */
  const send = ({ request, query, body }: RouteCall) =>
    world.shop.callAnonymously(request, {
      query: { ...query, ...(page.query as object) },
      headers: { origin },
      ...(body && { body }),
    });

  /** Returns the rows of the store, except those that record the last use of a key. */
  const contents = async () => (await rowsOf(suite, world)).filter((row) => !row.startsWith("app_key_secrets"));

  test("a storefront key may call only the routes of the catalogue, of sign-up, and of a visitor's own order", () => {
    const scopes: (string | undefined)[] = [...keyPurposes.storefront, undefined];
    const open = routes.filter(({ access }) => access.some((way) => way.kind === "app" && scopes.includes(way.scope)));
    expect(open.map(nameOf).toSorted()).toEqual([...allowed, ...signUps, ...withToken, ...purchases].toSorted());
  });

  test("for a storefront key, lost links and withdrawals have the same reply for existing and unknown orders", async () => {
    for (const route of routes.filter((one) => purchases.includes(nameOf(one)) && one.id !== "createOrder")) {
      const call = await (callsOf(route)[0] as (typeof routeCalls)[string])(world);
      const replies = [await send(call), await send({ ...call, body: { ...call.body, number: 999_999 } })];
      expect(replies.map(({ status, data }) => ({ status, data }))).toEqual(
        replies.map(() => ({ status: 200, data: { accepted: true } })),
      );
    }
  });

  test("the reply to an order with a storefront key contains nothing that only the store may see", async () => {
    const items = [{ product_id: (await world.shop.createProduct({ requires_shipping: false })).id, quantity: 1 }];
    const body = { items, email: "guest@example.com" };
    const { status, data } = await send({ request: "POST /orders/", body });
    expect(status).toBe(201);
    expect(data).not.toContainAnyKeys(["staff_note", "needs_attention"]);
    expect(Object.keys(data)).toContain("access_token");
  });

  for (const route of routes.filter((one) => [...allowed, ...withToken].includes(nameOf(one)))) {
    const isAllowed = allowed.includes(nameOf(route));
    const what = isAllowed ? "accepts the key of a page" : "hides every order from the key of a page without its token";
    test(`${nameOf(route)} ${what}, and changes nothing`, async () => {
      for (const make of callsOf(route)) {
        const call = await make(world);
        const before = await contents();
        const { status, code, text, headers } = await send(call);
        expect([code ?? status, headers.get("access-control-allow-origin")]).toEqual([isAllowed ? 200 : 5301, origin]);
        if (!isAllowed) expect(text).not.toContain("Contraband");
        expect(await contents()).toEqual(before);
      }
    });
  }

  for (const route of routes.filter((one) => isPublic(one) && !ignoresCredentials(one.access))) {
    test(`${nameOf(route)} returns to a storefront key only the fields that a visitor gets`, async () => {
      for (const make of callsOf(route)) {
        const { code } = await send(await make(world));
        const call = await make(world);
        const { code: alone } = await world.shop.callAnonymously(call.request, {
          ...(call.query && { query: call.query }),
          ...(call.body && { body: call.body }),
        });
        expect(code).toBe(alone as number);
      }
    });
  }

  test("a customer's call from a page without a session gets an error that says to sign in", async () => {
    const list = await send({ request: "GET /wishlist/" });
    expect(list.error).toEqual({
      code: 5300,
      type: "forbidden",
      message: "The key lacks the scope wishlist:read, and no user is signed in.",
      remedy: "Sign a user in, or use a key with this scope.",
    });
    expect((await send({ request: "GET /users/me/" })).error?.remedy).toBe("Sign a user in.");
    expect((await send({ request: "GET /users/" })).error?.message).toBe("The key lacks the scope users:read.");
  });

  test("a page reads with the key in the query without a preflight, and no log contains the secret", async () => {
    const { app_id, app_secret } = page.query as Record<string, string>;
    // This is a simple request, with only the headers that browsers add.
    const url = `${suite.app.url}/products/?namespace=${world.shop.namespace}&app_id=${app_id}&app_secret=${app_secret}`;
    const ok = await fetch(url, { headers: { origin } });
    expect([ok.status, ok.headers.get("access-control-allow-origin")]).toEqual([200, origin]);
    const bad = await fetch(`${url}&limit=0`, { headers: { origin } });
    expect([bad.status, bad.headers.get("access-control-allow-origin")]).toEqual([422, origin]);
    const elsewhere = await fetch(url, { headers: { origin: "https://elsewhere.example" } });
    expect([elsewhere.status, elsewhere.headers.get("access-control-allow-origin")]).toEqual([401, null]);
    const told = (await Promise.all([ok, bad, elsewhere].map((reply) => reply.text()))).join("\n");
    const secret = (app_secret as string).slice(3);
    expect(told + suite.app.lines.join("\n")).not.toContain(secret);
    const { rows } = await suite.app.db.execute("select * from audit_log");
    expect(JSON.stringify(rows)).not.toContain(secret);
  });
});
