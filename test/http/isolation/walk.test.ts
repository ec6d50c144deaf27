import { beforeAll, describe, expect, test } from "bun:test";
import { routes } from "../../../src/server/api/routes.ts";
import { ignoresCredentials, type Route } from "../../../src/server/http/route.ts";
import { type Account, openAccount } from "../../support/account.ts";
import type { CallOptions } from "../../support/client.ts";
import {
  bareOf,
  idForm,
  idsAmong,
  marksIn,
  nameOf,
  namesCustomer,
  rowsOf,
  strangersOf,
  textWithoutEcho,
  twinOf,
  verdictOf,
} from "../../support/isolation.ts";
import { callsOf, makeCall, openWorld, type RouteCall, routeCalls, type World } from "../../support/route-calls.ts";
import { onDatabase, type Suite } from "../../support/suite.ts";

test("route-calls.ts has one call for each route", () => {
  expect(Object.keys(routeCalls).toSorted()).toEqual(routes.map(({ id }) => id).toSorted());
});

/** Returns the status of a successful call. */
const statusOf = (route: Route, call: RouteCall) =>
  call.status ?? (call.query?.dry_run ? 200 : route.reply.status) ?? 200;

// On a libSQL server, it is enough that each call succeeds, because the statements are the same as on a file.
onDatabase("server", (suite) => {
  test("every route succeeds on a libSQL server", async () => {
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
  /**
   * The text of all calls that strangers have repeated. The strangers' stores may contain the email addresses in these
   * calls.
   */
  let repeated = "";
  const allMarks = new Set<string>();
  beforeAll(async () => {
    ours = await openWorld(await suite.shop());
    theirs = await openWorld(await suite.shop());
    neighbour = await openAccount(ours.shop);
  });

  /**
   * Makes a call in the other store with this store's key, with this store's owner, and with the other store's owner
   * and this token.
   */
  async function refuseCredentials({ id }: Route, { request, query, body }: RouteCall): Promise<void> {
    const { owner, shop } = ours;
    const ofToken = id === "refreshToken" || id === "logout" ? 5214 : 5205;
    for (const [code, more, auth] of [
      [5203, {}, shop.auth],
      [ofToken, { user_id: owner.id, token: owner.token }, null],
      [ofToken, { user_id: theirs.owner.id, token: owner.token }, null],
    ] as const) {
      const reply = await theirs.shop.call(request, { auth, query: { ...query, ...more }, ...(body && { body }) });
      expect(reply.code).toBe(code);
    }
  }

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
        if (!ignoresCredentials(route.access)) repeated += JSON.stringify(call.body ?? {});
        for (const stranger of strangersOf(theirs, route)) {
          // Users may make calls about themselves in their own store.
          if (call.by && !call.isOwned && !stranger.name.endsWith("key")) continue;
          const tries = stranger.name.endsWith("key") ? [...calls, [bareOf(call), about] as const] : calls;
          for (const [spoken, more] of tries) {
            const seen = await stranger.send(spoken, more);
            const sent = { ...spoken, query: { ...spoken.query, ...(more.query as object | undefined) } };
            // Replies to calls without a record id may differ, for example when both use the same email address.
            if (JSON.stringify({ ...spoken, by: null }).search(idForm) >= 0) {
              const twin = twinOf(sent);
              const verdict = verdictOf(twin, await stranger.send(twin));
              expect([stranger.name, verdictOf(sent, seen)]).toEqual([stranger.name, verdict]);
            }
            expect([
              stranger.name,
              [...marksIn(textWithoutEcho(sent, seen))].filter((mark) => marks.has(mark)),
            ]).toEqual([stranger.name, []]);
            expect(seen.text).not.toContain("Contraband");
          }
        }
        if (!ignoresCredentials(route.access)) await refuseCredentials(route, call);
        expect(await rowsOf(suite, ours)).toEqual(before);
        for (const mark of marks) allMarks.add(mark);
        // The call itself succeeds.
        const valid = await makeCall(ours, call);
        expect([valid.status, valid.error]).toEqual([statusOf(route, call), undefined]);
      }
    });

    if (ignoresCredentials(route.access)) continue;

    test(`${nameOf(route)} shows and changes no other customer's records`, async () => {
      const call = await make(ours);
      const marks = new Set([ours.customer.id, ours.customer.email]);
      if (call.isOwned) for (const mark of marksIn(JSON.stringify({ ...call, by: null }))) marks.add(mark);
      const ofOurs = async () =>
        (await rowsOf(suite, ours)).filter((row) => [...marks].some((mark) => row.includes(mark)));
      const before = await ofOurs();
      const place = namesCustomer(route);
      const named = { customer_id: ours.customer.id };
      // The other customer may make calls about themselves.
      const calls = call.by && !call.isOwned ? [] : [call];
      if (call.isOwned && route.method === "GET") calls.push(bareOf(call));
      if (place === "query") calls.push({ ...call, query: { ...call.query, ...named } });
      if (place === "body") calls.push({ ...call, body: { ...call.body, ...named } });
      for (const spoken of calls) {
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
  }

  test("no id of one store occurs in another store, and the callers' credentials are valid after all calls", async () => {
    expect(idsAmong((await rowsOf(suite, theirs)).join("\n"), allMarks)).toEqual([]);
    for (const by of [ours.customer, ours.owner, neighbour]) {
      expect((await makeCall(ours, { request: "GET /users/me/", by })).status).toBe(200);
    }
    for (const by of [theirs.customer, theirs.owner]) {
      expect((await makeCall(theirs, { request: "GET /users/me/", by })).status).toBe(200);
    }
  });
}
