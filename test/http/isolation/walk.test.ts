import { beforeAll, expect, test } from "bun:test";
import { isUnsigned } from "../../../src/server/http/access.ts";
import { takesKey } from "../../../src/server/http/idempotency.ts";
import type { Route } from "../../../src/server/http/route.ts";
import { newId } from "../../../src/server/ids.ts";
import { routes } from "../../../src/server/routes.ts";
import { type Account, openAccount } from "../../support/account.ts";
import { type ApiReply, type CallOptions, createClient, newAddress } from "../../support/client.ts";
import { makeCall, openWorld, type RouteCall, routeCalls, type World } from "../../support/route-calls.ts";
import { onEachDatabase, type Suite } from "../../support/suite.ts";

const idForm = /\b([a-z]{2,8})_[0-9a-hjkmnp-tv-z]{26}\b/g;
const emailForm = /\b[\w.-]+@example\.com\b/g;
const nameOf = ({ method, path }: Route) => `${method} ${path}`;

/** Everything in a text by which a store or a person could be known, save addresses of mail that a caller has told. */
function marksIn(text: string, told = ""): Set<string> {
  const marks = [...text.matchAll(idForm), ...text.matchAll(emailForm)].map(([mark]) => mark);
  return new Set(marks.filter((mark) => !(mark.includes("@") && told.includes(mark))));
}

/** The ids in a text that are among these. */
function idsAmong(text: string, marks: Set<string>): string[] {
  return [...marksIn(text)].filter((mark) => !mark.includes("@") && marks.has(mark));
}

/** The same call about records that nobody has. */
function twinOf(call: RouteCall): RouteCall {
  const { by: _, ...rest } = call;
  const others = new Map<string, string>();
  const swap = (mark: string, make: () => string) => others.get(mark) ?? (others.set(mark, make()).get(mark) as string);
  const text = JSON.stringify(rest)
    .replace(idForm, (id, prefix) => swap(id, () => newId(prefix)))
    .replace(emailForm, (email) => swap(email, () => `nobody-${newId("usr").slice(4)}@example.com`));
  return JSON.parse(text) as RouteCall;
}

/** What a reply tells its caller; of a success that may make something, only that it is one. */
function verdictOf({ request }: RouteCall, { status, error, data, page }: ApiReply): unknown {
  if (error) return { status, ...error };
  return request.startsWith("GET") ? { status, data, page } : { status };
}

/** The rows of every table that belong to a store, each as a line. */
async function rowsOf({ app: { db } }: Suite, { shop }: World): Promise<string[]> {
  const { rows: tables } = await db.primary.execute(`select t.name from sqlite_schema t, pragma_table_info(t.name) c
    where t.type = 'table' and c.name = 'tenant_id' and t.name <> 'rate_limits' order by 1`);
  const sql = (name: unknown) =>
    `select * from "${name}" where tenant_id = (select id from tenants where namespace = ?)`;
  const queries = tables.map(({ name }) => ({ sql: sql(name), args: [shop.namespace] }));
  const results = await db.primary.batch(queries, "read");
  return results.flatMap(({ rows }, index) =>
    rows.map((row) => `${tables[index]?.name} ${JSON.stringify(Object.values(row))}`),
  );
}

/** Those who come from elsewhere, and what they add to a call. */
interface Stranger {
  name: string;
  send: (call: RouteCall, more?: Pick<CallOptions, "query" | "headers">) => Promise<ApiReply>;
}

function callersOf(world: World, users: Record<string, Account>, who: string): Stranger[] {
  return Object.entries(users).map(([name, by]) => ({
    name: `${who} ${name}`,
    send: (call, more) => makeCall(world, { ...call, by }, more),
  }));
}

/** Whether a route takes the parameter by which staff and keys name whom they act for. */
function namesCustomer(route: Route): "query" | "body" | undefined {
  if (route.query && "customer_id" in route.query.properties) return "query";
  return route.body && "customer_id" in (route.body.properties ?? {}) ? "body" : undefined;
}

test("the walk knows how to call every route, and no others", () => {
  expect(Object.keys(routeCalls).toSorted()).toEqual(routes.map(({ id }) => id).toSorted());
});

onEachDatabase((suite) => {
  let ours: World;
  let theirs: World;
  let neighbour: Account;
  let strangers: Stranger[];
  beforeAll(async () => {
    ours = await openWorld(await suite.shop());
    theirs = await openWorld(await suite.shop());
    neighbour = await openAccount(ours.shop);
    const { customer, owner } = theirs;
    strangers = [
      {
        name: "another store's key",
        send: (call, more) => makeCall(theirs, { ...call, by: undefined } as RouteCall, more),
      },
      ...callersOf(theirs, { customer, owner }, "another store's"),
    ];
  });

  for (const route of routes) {
    const make = (world: World) => (routeCalls[route.id] as (world: World) => Promise<RouteCall>)(world);

    test(`${nameOf(route)} shows and changes nothing of another store's`, async () => {
      const call = await make(ours);
      const before = await rowsOf(suite, ours);
      const marks = marksIn(before.join("\n"), JSON.stringify(call));
      const about = { query: { user_id: ours.customer.id } };
      const place = namesCustomer(route);
      const named = { customer_id: ours.customer.id };
      const calls: [RouteCall, Pick<CallOptions, "query">][] = [[call, {}]];
      if (place === "query") calls.push([{ ...call, query: { ...call.query, ...named } }, {}]);
      if (place === "body") calls.push([{ ...call, body: { ...call.body, ...named } }, {}]);
      // What users do with themselves they may do in their own store; as one another they are tried below.
      const others = call.by || isUnsigned(route.access) ? strangers.slice(0, 1) : strangers;
      for (const stranger of others) {
        const tries = stranger.name.endsWith("key") ? [...calls, [call, about] as const] : calls;
        for (const [spoken, more] of tries) {
          const seen = await stranger.send(spoken, more);
          const twin = await stranger.send(twinOf(spoken), more.query ? { query: { user_id: newId("usr") } } : {});
          // A call that names no record, such as the first of two that take the same address, may differ.
          if (JSON.stringify({ ...spoken, by: null }).search(idForm) >= 0) {
            expect([stranger.name, verdictOf(spoken, seen)]).toEqual([stranger.name, verdictOf(spoken, twin)]);
          }
          expect([stranger.name, [...marksIn(seen.text)].filter((mark) => marks.has(mark))]).toEqual([
            stranger.name,
            [],
          ]);
          expect(seen.text).not.toContain("Contraband");
        }
      }
      expect(await rowsOf(suite, ours)).toEqual(before);
      expect(idsAmong((await rowsOf(suite, theirs)).join("\n"), marks)).toEqual([]);
      // All this would prove nothing if the call could never succeed.
      const valid = await makeCall(ours, call);
      expect([valid.status, valid.error]).toEqual([route.reply.status ?? 200, undefined]);
    });

    // Whose a record is, is judged by the same statements wherever the data is; the rest once is enough.
    if (suite.kind === "replica") continue;

    if (!isUnsigned(route.access) && suite.kind === "file") {
      test(`${nameOf(route)} takes nobody's credentials in another store, nor with another's name`, async () => {
        const call = await make(ours);
        const { namespace } = theirs.shop;
        const send = (query: Record<string, string>, auth?: string) =>
          createClient(suite.app, { namespace, ...(auth && { auth }) })(call.request, {
            query: { ...call.query, ...query },
            address: newAddress(),
            ...(call.body && { body: call.body }),
          });
        const { customer, owner, shop } = ours;
        const isOwnToken = route.id === "refreshToken" || route.id === "logout";
        const refused = isOwnToken ? 5214 : 5205;
        expect((await send({}, shop.auth)).code).toBe(5203);
        for (const { id, token } of [customer, owner]) {
          expect((await send({ user_id: id, token })).code).toBe(refused);
        }
        // A user of the store, with the token of another.
        expect((await send({ user_id: theirs.customer.id, token: theirs.owner.token })).code).toBe(refused);
        expect((await send({ user_id: theirs.customer.id, token: customer.token })).code).toBe(refused);
      });
    }

    test(`${nameOf(route)} shows and changes nothing of another customer's`, async () => {
      const call = await make(ours);
      const marks = new Set([ours.customer.id, ours.customer.email]);
      if (call.isOwned) for (const mark of marksIn(JSON.stringify({ ...call, by: null }))) marks.add(mark);
      const ofOurs = async () =>
        (await rowsOf(suite, ours)).filter((row) => [...marks].some((mark) => row.includes(mark)));
      const before = await ofOurs();
      const place = namesCustomer(route);
      const named = { customer_id: ours.customer.id };
      const calls = [call];
      if (place === "query") calls.push({ ...call, query: { ...call.query, ...named } });
      if (place === "body") calls.push({ ...call, body: { ...call.body, ...named } });
      const isRefused = isUnsigned(route.access) || call.by !== undefined;
      for (const spoken of isRefused ? [] : calls) {
        const seen = await makeCall(ours, { ...spoken, by: neighbour });
        expect([...marksIn(seen.text)].filter((mark) => marks.has(mark))).toEqual([]);
        if (call.isOwned || spoken !== call) {
          const twin = await makeCall(ours, { ...twinOf(spoken), by: neighbour });
          expect(verdictOf(spoken, seen)).toEqual(verdictOf(spoken, twin));
        }
      }
      expect(await ofOurs()).toEqual(before);
    });

    if (route.reply.page && !route.path.includes(":")) {
      test(`${nameOf(route)} shows nothing of another store's by its cursor, or by ids`, async () => {
        const call = await make(ours);
        const { data, page } = await makeCall(ours, call, { query: { limit: "1" } });
        const cursor = page.next_cursor as string;
        expect(typeof cursor).toBe("string");
        const marks = marksIn((await rowsOf(suite, ours)).join("\n"));
        const id = (data as unknown as { id: string }[])[0]?.id as string;
        const at = route.query && "after" in route.query.properties ? "after" : "cursor";
        const queries: Record<string, string>[] = [{ limit: "1", [at]: cursor }, { [at]: cursor }];
        if (route.query && "ids" in route.query.properties) queries.push({ ids: id });
        const askers = [...strangers, ...callersOf(ours, { neighbour }, "another")];
        for (const { name, send } of askers) {
          if (name === "another neighbour" && !call.isOwned) continue;
          for (const query of queries) {
            const seen = await send(call, { query });
            expect([name, [...marksIn(seen.text)].filter((mark) => marks.has(mark) && mark !== neighbour.id)]).toEqual([
              name,
              [],
            ]);
            expect([200, 400, 403]).toContain(seen.status);
          }
        }
      });
    }

    if (takesKey(route)) {
      test(`${nameOf(route)} answers nobody what another was answered, whatever the key`, async () => {
        const call = await make(ours);
        const headers = { "idempotency-key": `walk-${route.id}` };
        const first = await makeCall(ours, call, { headers });
        expect(first.error).toBeUndefined();
        for (const { name, send } of [...strangers, ...callersOf(ours, { neighbour, owner: ours.owner }, "another")]) {
          const seen = await send(call, { headers });
          expect([name, seen.headers.get("idempotency-replayed")]).toEqual([name, null]);
          if (name !== "another owner") expect(seen.text).not.toContain(String(first.data.id));
        }
        expect((await makeCall(ours, call, { headers })).headers.get("idempotency-replayed")).toBe("true");
      });
    }
  }

  test("those who walked are still who they were", async () => {
    for (const by of [ours.customer, ours.owner, neighbour]) {
      expect((await makeCall(ours, { request: "GET /users/me/", by })).status).toBe(200);
    }
    for (const by of [theirs.customer, theirs.owner]) {
      expect((await makeCall(theirs, { request: "GET /users/me/", by })).status).toBe(200);
    }
  });
});
