import { beforeAll, describe, expect, test } from "bun:test";
import { Type } from "@sinclair/typebox";
import { routes } from "../../../src/server/api/routes.ts";
import {
  anyKey,
  defineRoute,
  ignoresCredentials,
  publicAccess,
  type Route,
  reply,
} from "../../../src/server/http/route.ts";
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
  // Public, because browsers send no credentials for pictures.
  "GET /media/:id/:file",
  ...["PATCH /notifications/register/:id/", "DELETE /notifications/register/:id/"],
];
// A signature is a credential.
const isPublic = ({ access, signed }: Route) => !signed && access.some(({ kind }) => kind === "public");
const scopesOf = ({ access }: Route) => access.flatMap((way) => (way.kind === "app" && way.scope ? [way.scope] : []));
/** Routes for which every key of the store is enough. */
const isForAnyKey = (route: Route) => isPublic(route) || route.signed !== undefined || route.access.includes(anyKey);

describe("declarations of every route", () => {
  for (const route of routes) {
    test(`${nameOf(route)} declares its callers`, () => {
      expect(route.access.length).toBeGreaterThan(0);
      for (const way of route.access) {
        expect(["app", "token", "public"]).toContain(way.kind);
        if (way.kind === "app" && way.scope) expect(knownScopes as readonly string[]).toContain(way.scope);
      }
    });

    test(`${nameOf(route)} is canonical, named and described`, () => {
      expect(route.path).toMatch(/^\/(?:(?:[a-z0-9-]+|:[a-z_]+)\/)*(?::file)?$/);
      expect(route.path).not.toMatch(/\/(?:get|create|update|delete|list)[a-z-]*\//);
      expect(route.summary).toMatch(/^[A-Z][^.]+$/);
      expect(route.id).toMatch(/^[a-z][A-Za-z]+$/);
      expect(route.reply.data).toBeDefined();
      const parameters = [...route.path.matchAll(/:(\w+)/g)].map((match) => match[1] as string);
      expect(Object.keys(route.params?.properties ?? {})).toEqual(parameters);
      for (const schema of [route.query, route.body]) {
        if (schema) expect(schema.additionalProperties).toBe(false);
      }
      if (route.method === "GET") expect(route.body).toBeUndefined();
    });
  }

  test("only the public routes of the specification need no credentials", () => {
    expect(routes.filter(isPublic).map(nameOf).sort()).toEqual(publicRoutes.toSorted());
  });

  test("only the store itself and its shipping rates are shown to keys of any scope", () => {
    const open = routes.filter(({ access }) => access.includes(anyKey)).map(nameOf);
    expect(open.toSorted()).toEqual(["GET /shipping/rates/", "GET /store/"]);
  });

  test("no two routes share a name, or a method and path", () => {
    for (const of of [nameOf, ({ id }: Route) => id]) expect(new Set(routes.map(of)).size).toBe(routes.length);
  });

  test("a route without callers cannot be defined", () => {
    const open = { ...(routes[0] as Route), access: [] };
    expect(() => defineRoute("GET", "/open/", "open", open as never)).toThrow("names nobody");
  });
});

onDatabase("file", (suite) => {
  let shop: Shop;
  let other: Shop;
  beforeAll(async () => {
    shop = await suite.shop();
    other = await suite.shop();
  });

  for (const route of routes) {
    test(`${nameOf(route)} without credentials is ${isPublic(route) ? "open" : "5206"}`, async () => {
      const { code } = await shop.callAnonymously(requestOf(route));
      if (isPublic(route)) expect(code).not.toBe(5206);
      else expect(code).toBe(5206);
    });

    test(`${nameOf(route)} with another store's key is ${ignoresCredentials(route.access) ? "not refused for it" : "5203"}`, async () => {
      const { code } = await shop.call(requestOf(route), { auth: other.auth });
      if (ignoresCredentials(route.access)) expect(code).toBe(route.signed ? 5206 : 5102);
      else expect(code).toBe(5203);
    });

    test(`${nameOf(route)} without a namespace is 5101`, async () => {
      expect((await shop.callAnonymously(requestOf(route), { namespace: null })).code).toBe(5101);
    });

    test(`${nameOf(route)} of an unknown store is 5215`, async () => {
      expect((await shop.call(requestOf(route), { namespace: "no-such-store" })).code).toBe(5215);
    });

    test(`${nameOf(route)} with a key that has every scope but its own is ${isForAnyKey(route) ? "not refused for it" : "5300"}`, async () => {
      const scopes = knownScopes.filter((scope) => scope !== "*" && !scopesOf(route).includes(scope));
      expect(scopes).not.toBeEmpty();
      const auth = bearer(await shop.issueKey({ scopes }));
      const { code } = await shop.call(requestOf(route), { auth });
      if (isForAnyKey(route)) expect(code).not.toBe(5300);
      else expect(code).toBe(5300);
    });
  }

  for (const route of routes.filter(({ access }) => !access.some((way) => way.kind === "token" && way.own))) {
    const isFor = (role: "customer" | "staff") =>
      route.access.some(
        (way) => way.kind === "public" || (way.kind === "token" && (way.role === undefined || way.role === role)),
      );

    test(`${nameOf(route)} accepts a key with only its scope and the declared users, and refuses other users with 5300`, async () => {
      const scopes = scopesOf(route);
      if (scopes.length > 0) {
        const auth = bearer(await shop.issueKey({ scopes }));
        expect((await shop.call(requestOf(route), { auth })).code).not.toBe(5300);
      }
      for (const role of ["customer", "staff"] as const) {
        const { call } = await openAccount(shop, { role });
        expect([role, (await call(requestOf(route))).code === 5300]).toEqual([role, !isFor(role)]);
      }
    });
  }

  test("only a route declared public is open to anyone, and it still requires a store", async () => {
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
