import { beforeAll, expect, test } from "bun:test";
import { Kind, type TSchema } from "@sinclair/typebox";
import { routes } from "../../../src/server/api/routes.ts";
import type { Route } from "../../../src/server/http/route.ts";
import { type Account, openAccount } from "../../support/account.ts";
import type { ProductReply, Shop } from "../../support/factories.ts";
import { bareOf, callersOf, marksIn, nameOf, rowsOf, strangersOf } from "../../support/isolation.ts";
import { makeCall, openWorld, type RouteCall, routeCalls, type World } from "../../support/route-calls.ts";
import { onDatabase } from "../../support/suite.ts";

const lists = routes.filter(({ reply, path }) => reply.page && !path.includes(":"));

/** Returns all values that a parameter's schema lists. Without a list, returns one value that matches every record. */
function valuesOf(name: string, schema: TSchema): string[] {
  if (schema[Kind] === "Union") return (schema.anyOf as TSchema[]).flatMap((one) => valuesOf(name, one));
  if (schema[Kind] === "Literal") return [String(schema.const)];
  if (schema[Kind] === "Boolean") return ["true"];
  if (name === "q") return ["contraband", "c"];
  if (/_at\[g/.test(name)) return ["2001-01-01T00:00:00Z"];
  if (/_at\[l/.test(name)) return ["2901-01-01T00:00:00Z"];
  if (/\[g/.test(name)) return ["0"];
  if (/\[l/.test(name)) return ["1000000"];
  return [];
}

/** Returns queries of a list: each parameter with a count, and each parameter with another sort. */
function queriesOf({ query }: Route): Record<string, string>[] {
  const queries: Record<string, string>[] = [{}];
  for (const [name, schema] of Object.entries(query?.properties ?? {})) {
    for (const value of valuesOf(name, schema)) {
      const more: Record<string, string> = value === "relevance" ? { q: "contraband" } : {};
      queries.push({ ...more, [name]: value, include_total: "true", limit: "100" });
      if (name !== "sort" && query?.properties.sort) queries.push({ [name]: value, sort: "created_at" });
    }
  }
  return queries.filter((one) => Object.keys(one).every((name) => query && name in query.properties));
}

/** Creates a record for each name that must be unique in a store. Returns the replies. */
async function takeNames({ call }: Shop): Promise<unknown[]> {
  const lamp = { title: "Lamp", price: 2 };
  const named = await call<ProductReply>("POST /products/", { body: { ...lamp, slug: "the-lamp", sku: "LAMP-1" } });
  const made = await call<ProductReply>("POST /products/", { body: lamp });
  const variants = [{ options: { color: "red" }, sku: "LAMP-RED", price: 2 }];
  const varied = await call<ProductReply>("POST /products/", { body: { ...lamp, title: "Torch", variants } });
  const body = { options: { color: "blue" }, sku: "LAMP-BLUE", price: 2 };
  const added = await call(`POST /products/${varied.data?.id}/variants/`, { body });
  const user = await call("POST /users/", { body: { email: "taken@example.com" } });
  const items = [{ product_id: made.data?.id, quantity: 1 }];
  const order = await call<{ id: string; number: number }>("POST /orders/", { body: { items } });
  const paid = await call(`POST /orders/${order.data?.id}/pay/`, { body: { payment_reference: "pay-1" } });
  const statuses = [named, made, varied, added, user, order, paid].map(({ status }) => status);
  return [...statuses, made.data?.slug, order.data?.number];
}

// Runs only on a file, because a libSQL server runs the same statements, and there are hundreds of calls.
onDatabase("file", (suite) => {
  let ours: World;
  let theirs: World;
  let neighbour: Account;
  beforeAll(async () => {
    ours = await openWorld(await suite.shop());
    theirs = await openWorld(await suite.shop());
    neighbour = await openAccount(ours.shop);
  });

  for (const route of lists) {
    const make = (world: World) => (routeCalls[route.id] as (world: World) => Promise<RouteCall>)(world);

    test(`${nameOf(route)} shows no other store's records, with any filter, sort, count or cursor`, async () => {
      const call = await make(ours);
      const { data, page } = await makeCall(ours, call, { query: { limit: "1" } });
      const next = page.next_cursor as string;
      expect(typeof next).toBe("string");
      const marks = marksIn((await rowsOf(suite, ours)).join("\n"));
      marks.delete(neighbour.id);
      const queries = queriesOf(route);
      const at = "after" in (route.query?.properties ?? {}) ? "after" : "cursor";
      queries.push({ limit: "1", [at]: next }, { [at]: next });
      const { id, slug } = (data as unknown as { id: string; slug?: string }[])[0] ?? { id: "" };
      if ("ids" in (route.query?.properties ?? {})) queries.push({ ids: id });
      if (slug && "slug" in (route.query?.properties ?? {})) queries.push({ slug });
      const askers = [
        ...strangersOf(theirs, route),
        ...(call.isOwned ? callersOf(ours, { neighbour }, "another") : []),
      ];
      for (const query of queries) {
        // The query must succeed for a caller of the same store.
        const own = await makeCall(ours, call, { query });
        expect([query, own.error]).toEqual([query, undefined]);
        for (const { name, send } of askers) {
          const seen = await send(bareOf(call), { query });
          expect([name, query, [...marksIn(seen.text)].filter((mark) => marks.has(mark))]).toEqual([name, query, []]);
          const { total, has_more: hasMore } = seen.page ?? {};
          if (total !== undefined && !hasMore)
            expect([name, query, total]).toEqual([name, query, (seen.data as never as []).length]);
          // Errors are expected for a cursor of another list, and for staff who name no customer.
          const told = [200, 403, ...(at in query ? [400] : []), ...(call.query?.customer_id ? [404, 422] : [])];
          expect([name, query, told.includes(seen.status)]).toEqual([name, query, true]);
        }
      }
    });
  }

  test("another store may use the same slugs, SKUs, emails, order numbers and payment references", async () => {
    const first = await takeNames(await suite.shop());
    expect(first).toEqual([201, 201, 201, 201, 201, 201, 200, "lamp", 1]);
    expect(await takeNames(await suite.shop())).toEqual(first);
  });
});
