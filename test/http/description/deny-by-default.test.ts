import { beforeAll, describe, expect, test } from "bun:test";
import { Type } from "@sinclair/typebox";
import { routes } from "../../../src/server/api/routes.ts";
import { anyKey, defineRoute, publicAccess, type Route, reply } from "../../../src/server/http/route.ts";
import { knownScopes } from "../../../src/server/security/scopes.ts";
import { openAccount } from "../../support/account.ts";
import { startTestApp } from "../../support/app.ts";
import { createClient } from "../../support/client.ts";
import { bearer, type Shop } from "../../support/factories.ts";
import { onDatabase } from "../../support/suite.ts";

const nameOf = ({ method, path }: Route) => `${method} ${path}`;
/** Returns the request of a route, with a value for each parameter of its path. */
const requestOf = (route: Route) => nameOf(route).replace(/:\w+/g, "x");
/** Public routes, which need no credentials (specification, section 4). */
const publicRoutes = [
  ...["POST /auth/login/", "POST /auth/password/forgot/", "POST /auth/password/reset/"],
  ...["GET /likes/", "POST /likes/", "DELETE /likes/", "GET /bookmarks/", "POST /bookmarks/", "DELETE /bookmarks/"],
  ...["GET /views/", "POST /views/", "GET /notifications/register/", "POST /notifications/register/"],
  // These routes are public, because browsers send no credentials for pictures.
  "GET /media/:id/:file",
  ...["PATCH /notifications/register/:id/", "DELETE /notifications/register/:id/"],
];
// A signature is a credential.
const isPublic = ({ access, signed }: Route) => !signed && access.some(({ kind }) => kind === "public");
const scopesOf = ({ access }: Route) => access.flatMap((way) => (way.kind === "app" && way.scope ? [way.scope] : []));
/** Routes for which every key of the store is enough. */
const isForAnyKey = (route: Route) => isPublic(route) || route.signed !== undefined || route.access.includes(anyKey);

describe("declarations of every route", () => {
  test("every route has a canonical path, a name and a description", () => {
    for (const route of routes) {
      const name = nameOf(route);
      const { method, path, id, summary, params, query, body } = route;
      expect(path).toMatch(/^\/(?:(?:[a-z0-9-]+|:[a-z_]+)\/)*(?::file)?$/);
      expect(path).not.toMatch(/\/(?:get|create|update|delete|list)[a-z-]*\//);
      expect(summary).toMatch(/^[A-Z][^.]+$/);
      expect(id).toMatch(/^[a-z][A-Za-z]+$/);
      const inPath = [...path.matchAll(/:(\w+)/g)].map((match) => match[1]);
      expect([name, Object.keys(params?.properties ?? {})]).toEqual([name, inPath as string[]]);
      const schemas = [query, body].filter((schema) => schema !== undefined);
      expect([name, schemas.filter((schema) => schema.additionalProperties !== false)]).toEqual([name, []]);
      expect([name, method === "GET" && body !== undefined]).toEqual([name, false]);
    }
  });

  test("only the public routes of the specification need no credentials", () => {
    expect(routes.filter(isPublic).map(nameOf).sort()).toEqual(publicRoutes.toSorted());
  });

  test("the only routes that accept keys of any scope return the store itself and its shipping rates", () => {
    const open = routes.filter(({ access }) => access.includes(anyKey)).map(nameOf);
    expect(open.toSorted()).toEqual(["GET /shipping/rates/", "GET /store/"]);
  });

  test("no two routes share a name, or a method and path", () => {
    for (const of of [nameOf, ({ id }: Route) => id]) expect(new Set(routes.map(of)).size).toBe(routes.length);
  });
});

onDatabase("file", (suite) => {
  let shop: Shop;
  const keys = new Map<string, string>();
  beforeAll(async () => {
    shop = await suite.shop();
  });

  /** Whether a key with only these scopes lacks the permission to call a route. */
  async function isForbidden(route: Route, scopes: readonly (typeof knownScopes)[number][]): Promise<boolean> {
    const name = scopes.join();
    const auth = keys.get(name) ?? bearer(await shop.issueKey({ scopes: [...scopes] }));
    keys.set(name, auth);
    return (await shop.call(requestOf(route), { auth })).code === 5300;
  }

  test("without credentials, every route that is not public is refused with 5206", async () => {
    for (const route of routes) {
      const { code } = await shop.callAnonymously(requestOf(route));
      expect([nameOf(route), code === 5206]).toEqual([nameOf(route), !isPublic(route)]);
    }
  });

  test("in an unknown store, every route is refused with 5215", async () => {
    for (const route of routes) {
      const { code } = await shop.call(requestOf(route), { namespace: "no-such-store" });
      expect([nameOf(route), code]).toEqual([nameOf(route), 5215]);
    }
  });

  test("a route accepts a key with only its scope, and refuses a key with all other scopes", async () => {
    for (const route of routes) {
      const own = scopesOf(route);
      const others = knownScopes.filter((scope) => scope !== "*" && !own.includes(scope));
      expect([nameOf(route), await isForbidden(route, others)]).toEqual([nameOf(route), !isForAnyKey(route)]);
      if (own.length > 0) expect([nameOf(route), await isForbidden(route, own)]).toEqual([nameOf(route), false]);
    }
  });

  test("a route accepts the roles of users that it declares, and refuses others", async () => {
    for (const role of ["customer", "staff"] as const) {
      const { call } = await openAccount(shop, { role });
      for (const route of routes.filter(({ access }) => !access.some((way) => way.kind === "token" && way.own))) {
        const isFor = route.access.some(
          (way) => way.kind === "public" || (way.kind === "token" && (way.role === undefined || way.role === role)),
        );
        const { code } = await call(requestOf(route));
        expect([role, nameOf(route), code === 5300]).toEqual([role, nameOf(route), !isFor]);
      }
      expect((await call("GET /users/me/")).status).toBe(200);
    }
  });

  test("only routes that are declared public are open to anyone, and they require a store", async () => {
    const open = defineRoute("GET", "/open/", "open", {
      tag: "Open",
      summary: "Open to anyone",
      access: [publicAccess],
      reply: { data: Type.Object({ who: Type.String() }) },
      errors: [],
      handle: async ({ ctx }) => reply({ who: ctx.actor.kind }),
    });
    const app = startTestApp({ db: suite.database.db, clock: suite.app.clock, routes: [open] });
    const call = createClient(app, { namespace: shop.namespace });
    expect((await call("GET /open/")).data).toEqual({ who: "visitor" });
    expect((await call("GET /open/", { auth: shop.auth })).data).toEqual({ who: "app" });
    expect((await call("GET /open/", { namespace: null })).code).toBe(5101);
    expect((await call("GET /products/")).code).toBe(5106);
    await app.stop();
  });
});
