import { beforeAll, expect, test } from "bun:test";
import { routes } from "../../../src/server/api/routes.ts";
import type { Route } from "../../../src/server/http/route.ts";
import type { ApiReply } from "../../support/client.ts";
import { makeCall, openWorld, type RouteCall, routeCalls, type World } from "../../support/route-calls.ts";
import { onDatabase } from "../../support/suite.ts";

const nameOf = ({ method, path }: Route) => `${method} ${path}`;
/**
 * Whether a route changes a record that has a version. Likes, bookmarks and devices have no version, because they
 * cannot be read by id. Pictures never change. Rates, and the texts of a mail, are always replaced together.
 */
const isOfRecord = ({ method, path }: Route) =>
  !path.startsWith("/notifications/register/") &&
  !path.startsWith("/users/me/devices/") &&
  !path.startsWith("/media/") &&
  !path.endsWith("/rates/") &&
  !path.endsWith("/templates/") &&
  (["PUT", "PATCH"].includes(method) || (method === "DELETE" && path.includes(":")));
const changes = routes.filter((route) => route.conditional || isOfRecord(route));

/** Whether a route changes a part of a record. Deleting the part does not delete the record. */
const isOfPart = ({ path }: Route) => path.startsWith("/orders/:id/fulfillments/");

/**
 * Returns the call that reads the changed record: at the same path, or at the path of the record that an action is
 * about.
 */
function readOf({ request, ...call }: RouteCall): RouteCall {
  const [method, path = ""] = request.split(" ");
  const record =
    method === "POST" ? path.replace(/(?:refund\/ref_\w+\/)?[a-z-]+\/$/, "") : path.replace(/fulfillments\/.*$/, "");
  const { body: _, ...rest } = call;
  return { ...rest, request: `GET ${record}` };
}

onDatabase("file", (suite) => {
  let world: World;
  beforeAll(async () => {
    world = await openWorld(await suite.shop());
  });

  for (const route of changes) {
    const make = () => (routeCalls[route.id] as (world: World) => Promise<RouteCall>)(world);

    test(`${nameOf(route)} refuses an outdated version, and increases the version by one`, async () => {
      expect(route.conditional).toBe(true);
      const call = await make();
      const before = await makeCall(world, readOf(call));
      const version = before.data.version as number;
      expect([before.status, tagOf(before)]).toEqual([200, `"${version}"`]);
      const stale = await makeCall(world, call, { headers: { "if-match": `"${version + 1}"` } });
      expect([stale.status, stale.code]).toEqual([412, 5303]);
      expect((await makeCall(world, readOf(call))).data).toEqual(before.data);

      // A proxy that compresses makes ETags weak.
      const done = await makeCall(world, call, { headers: { "if-match": `W/"${version}"` } });
      expect([done.status, done.error]).toEqual([call.status ?? route.reply.status ?? 200, undefined]);
      const after = await makeCall(world, readOf(call));
      if (route.method === "DELETE" && !isOfPart(route)) expect(after.code).toBe(5301);
      else {
        expect([tagOf(done), done.data.version, tagOf(after)]).toEqual([`"${version + 1}"`, version + 1, tagOf(done)]);
        expect(after.data).toEqual(done.data);
      }
    });

    if (route.method === "PATCH") {
      test(`${nameOf(route)} increases the version by one, even if nothing changes`, async () => {
        const made = await make();
        // A parcel's only field is required.
        const call = { ...made, body: isOfPart(route) ? { tracking: null } : {} };
        const { data } = await makeCall(world, readOf(call));
        const done = await makeCall(world, call);
        expect([done.status, tagOf(done)]).toEqual([200, `"${(data.version as number) + 1}"`]);
      });
    }
  }

  test("every other route that returns a record with a version also sends the record's ETag", async () => {
    const single = routes.filter(({ reply }) => "version" in (reply.data.properties ?? {}));
    expect(single.length).toBeGreaterThan(changes.length);
    for (const route of single.filter((one) => !changes.includes(one))) {
      const call = await (routeCalls[route.id] as (world: World) => Promise<RouteCall>)(world);
      const reply = await makeCall(world, call);
      expect([nameOf(route), tagOf(reply)]).toEqual([nameOf(route), `"${reply.data.version}"`]);
    }
  });
});

/** Returns the version in an `ETag`. In some replies, the state of the catalogue follows the version. */
function tagOf({ headers }: ApiReply): string | undefined {
  return headers.get("etag")?.replace(/^W\/"(\d+)\.[a-z0-9]{13}"$/, '"$1"');
}
