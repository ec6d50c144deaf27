import { beforeAll, describe, expect, test } from "bun:test";
import { takesKey } from "../../../src/server/api/answers.ts";
import { routes } from "../../../src/server/api/routes.ts";
import { ignoresCredentials, type Route } from "../../../src/server/http/route.ts";
import { newId } from "../../../src/server/values/stamps.ts";
import { type Account, openAccount } from "../../support/account.ts";
import { type CallOptions, createClient } from "../../support/client.ts";
import {
  bareOf,
  callersOf,
  idForm,
  idsAmong,
  marksIn,
  nameOf,
  namesCustomer,
  rowsOf,
  type Stranger,
  strangersOf,
  textWithoutEcho,
  twinOf,
  verdictOf,
} from "../../support/isolation.ts";
import { callsOf, makeCall, openWorld, type RouteCall, routeCalls, type World } from "../../support/route-calls.ts";
import { onDatabase, type Suite } from "../../support/suite.ts";

test("route-calls.ts has a call of every route, and no others", () => {
  expect(Object.keys(routeCalls).toSorted()).toEqual(routes.map(({ id }) => id).toSorted());
});

/** Returns the status of a successful call. */
const statusOf = (route: Route, call: RouteCall) =>
  call.status ?? (call.query?.dry_run ? 200 : route.reply.status) ?? 200;

// On a server, each call must only succeed, because the statements are the same as on a file.
onDatabase("server", (suite) => {
  test("every route answers its call", async () => {
    const world = await openWorld(await suite.shop());
    for (const route of routes) {
      for (const make of callsOf(route)) {
        const call = await make(world);
        const { status, error } = await makeCall(world, call);
        expect([nameOf(route), status, error]).toEqual([nameOf(route), statusOf(route, call), undefined]);
      }
    }
  }, 60_000);
});

// Each group of routes has its own stores, which stay small, because every step reads all their rows.
const groupSize = Math.ceil(routes.length / 6);
const groups = routes.flatMap((_, at) => (at % groupSize === 0 ? [routes.slice(at, at + groupSize)] : []));

onDatabase("file", (suite) => {
  for (const group of groups) describe(`from ${nameOf(group[0] as Route)}`, () => walk(suite, group));
});

function walk(suite: Suite, group: readonly Route[]): void {
  let ours: World;
  let theirs: World;
  let neighbour: Account;
  let strangers: Stranger[];
  /** The text of all calls that strangers have repeated. Their stores may contain the email addresses in it. */
  let repeated = "";
  beforeAll(async () => {
    ours = await openWorld(await suite.shop());
    theirs = await openWorld(await suite.shop());
    neighbour = await openAccount(ours.shop);
    strangers = strangersOf(theirs);
  });

  for (const route of group) {
    const make = (world: World) => (routeCalls[route.id] as (world: World) => Promise<RouteCall>)(world);

    test(`${nameOf(route)} shows and changes no other store's records`, async () => {
      for (const makeOne of callsOf(route)) {
        const call = await makeOne(ours);
        const before = await rowsOf(suite, ours);
        const marks = marksIn(before.join("\n"), JSON.stringify(call) + repeated);
        const about = { query: { user_id: ours.customer.id } };
        const place = namesCustomer(route);
        const named = { customer_id: ours.customer.id };
        const calls: [RouteCall, Pick<CallOptions, "query">][] = [[call, {}]];
        if (place === "query") calls.push([{ ...call, query: { ...call.query, ...named } }, {}]);
        if (place === "body") calls.push([{ ...call, body: { ...call.body, ...named } }, {}]);
        // Users may make calls about themselves in their own store. Calls as other users are tested below.
        const others = call.by || ignoresCredentials(route.access) ? strangers.slice(0, 1) : strangers;
        if (!ignoresCredentials(route.access)) repeated += JSON.stringify(call.body ?? {});
        for (const stranger of others) {
          const tries = stranger.name.endsWith("key") ? [...calls, [bareOf(call), about] as const] : calls;
          for (const [spoken, more] of tries) {
            const seen = await stranger.send(spoken, more);
            const spokenTwin = twinOf(spoken);
            const moreTwin: Pick<CallOptions, "query"> = more.query ? { query: { user_id: newId("usr") } } : {};
            const twin = await stranger.send(spokenTwin, moreTwin);
            const sent = { ...spoken, query: { ...spoken.query, ...(more.query as object | undefined) } };
            const sentTwin = {
              ...spokenTwin,
              query: { ...spokenTwin.query, ...(moreTwin.query as object | undefined) },
            };
            // Replies to calls without a record id may differ, for example when both use the same email address.
            if (JSON.stringify({ ...spoken, by: null }).search(idForm) >= 0) {
              expect([stranger.name, verdictOf(sent, seen)]).toEqual([stranger.name, verdictOf(sentTwin, twin)]);
            }
            expect([
              stranger.name,
              [...marksIn(textWithoutEcho(sent, seen))].filter((mark) => marks.has(mark)),
            ]).toEqual([stranger.name, []]);
            expect(seen.text).not.toContain("Contraband");
          }
        }
        expect(await rowsOf(suite, ours)).toEqual(before);
        expect(idsAmong((await rowsOf(suite, theirs)).join("\n"), marks)).toEqual([]);
        // Without the attack, the call succeeds.
        const valid = await makeCall(ours, call);
        expect([valid.status, valid.error]).toEqual([statusOf(route, call), undefined]);
      }
    });

    if (!ignoresCredentials(route.access)) {
      test(`${nameOf(route)} refuses credentials of one store in another`, async () => {
        const call = await make(ours);
        const { namespace } = theirs.shop;
        const send = (query: Record<string, string>, auth?: string) =>
          createClient(suite.app, { namespace, ...(auth && { auth }) })(call.request, {
            query: { ...call.query, ...query },
            ...(call.body && { body: call.body }),
          });
        const { customer, owner, shop } = ours;
        const isOwnToken = route.id === "refreshToken" || route.id === "logout";
        const refused = isOwnToken ? 5214 : 5205;
        expect((await send({}, shop.auth)).code).toBe(5203);
        for (const { id, token } of [customer, owner]) {
          expect((await send({ user_id: id, token })).code).toBe(refused);
        }
        // The id of a user of this store, with the token of another user.
        expect((await send({ user_id: theirs.customer.id, token: theirs.owner.token })).code).toBe(refused);
        expect((await send({ user_id: theirs.customer.id, token: customer.token })).code).toBe(refused);
      });
    }

    test(`${nameOf(route)} shows and changes no other customer's records`, async () => {
      const call = await make(ours);
      const marks = new Set([ours.customer.id, ours.customer.email]);
      if (call.isOwned) for (const mark of marksIn(JSON.stringify({ ...call, by: null }))) marks.add(mark);
      const ofOurs = async () =>
        (await rowsOf(suite, ours)).filter((row) => [...marks].some((mark) => row.includes(mark)));
      const before = await ofOurs();
      const place = namesCustomer(route);
      const named = { customer_id: ours.customer.id };
      const calls = [call];
      if (call.isOwned && route.method === "GET") calls.push(bareOf(call));
      if (place === "query") calls.push({ ...call, query: { ...call.query, ...named } });
      if (place === "body") calls.push({ ...call, body: { ...call.body, ...named } });
      const isRefused = ignoresCredentials(route.access) || call.by !== undefined;
      for (const spoken of isRefused ? [] : calls) {
        const seen = await makeCall(ours, { ...spoken, by: neighbour });
        expect([...marksIn(textWithoutEcho(spoken, seen))].filter((mark) => marks.has(mark))).toEqual([]);
        if (call.isOwned || spoken !== call) {
          const spokenTwin = twinOf(spoken);
          const twin = await makeCall(ours, { ...spokenTwin, by: neighbour });
          expect(verdictOf(spoken, seen)).toEqual(verdictOf(spokenTwin, twin));
        }
      }
      expect(await ofOurs()).toEqual(before);
    });

    if (takesKey(route)) {
      test(`${nameOf(route)} returns no other caller's stored reply for the same key`, async () => {
        const call = await make(ours);
        const headers = { "idempotency-key": `walk-${route.id}` };
        repeated += JSON.stringify(call.body ?? {});
        const first = await makeCall(ours, call, { headers });
        expect(first.error).toBeUndefined();
        for (const { name, send } of [...strangers, ...callersOf(ours, { neighbour, owner: ours.owner }, "another")]) {
          const seen = await send(call, { headers });
          expect([name, seen.headers.get("idempotency-replayed")]).toEqual([name, null]);
          if (name !== "another owner") expect(textWithoutEcho(call, seen)).not.toContain(String(first.data.id));
        }
        expect((await makeCall(ours, call, { headers })).headers.get("idempotency-replayed")).toBe("true");
      });
    }
  }

  test("the credentials of the callers are still valid afterwards", async () => {
    for (const by of [ours.customer, ours.owner, neighbour]) {
      expect((await makeCall(ours, { request: "GET /users/me/", by })).status).toBe(200);
    }
    for (const by of [theirs.customer, theirs.owner]) {
      expect((await makeCall(theirs, { request: "GET /users/me/", by })).status).toBe(200);
    }
  });
}
