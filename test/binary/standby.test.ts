import { expect, test } from "bun:test";
import { copyFileSync, mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { type Binary, openShop, useBinaries } from "../support/binary.ts";
import type { Serving } from "../support/serving.ts";
import { until } from "../support/until.ts";
import { defaultDataDir, startLoad } from "./load.ts";

const { installBinary, makeDir } = useBinaries();

const follow = (binary: Binary, place: string) =>
  binary.serveBy([binary.path, "standby", "--from", place, "--port", "0"]);

function copyKey(from: Binary, to: Binary): void {
  mkdirSync(defaultDataDir(to.dir), { recursive: true, mode: 0o700 });
  copyFileSync(join(defaultDataDir(from.dir), "secret.key"), join(defaultDataDir(to.dir), "secret.key"));
}

/** Returns the lag of a standby in seconds, from its health check. */
async function readLag({ url }: Serving): Promise<number | undefined> {
  const reply = await fetch(`${url}/health/ready`);
  expect(reply.status).toBe(503);
  const { error } = (await reply.json()) as { error: { details: { field: string; message: string }[] } };
  return error.details[0] && Number(error.details[0].message);
}

/** Returns the time of the last change in the standby's copy. */
async function readLastChange({ url }: Serving): Promise<number> {
  const { error } = (await (await fetch(`${url}/health/ready`)).json()) as { error: { message: string } };
  return Date.parse(/the last change is of (\S+Z)/.exec(error.message)?.[1] ?? "");
}

async function readIds({ url }: Serving, namespace: string, auth: string): Promise<Set<string>> {
  const ids = new Set<string>();
  for (let page = ""; ; ) {
    const address = `${url}/products/?namespace=${namespace}&limit=100&fields=id${page}`;
    const reply = await fetch(address, { headers: { authorization: auth } });
    const body = (await reply.json()) as { data: { id: string }[]; page: { next_cursor: string | null } };
    for (const { id } of body.data) ids.add(id);
    if (body.page.next_cursor === null) return ids;
    page = `&cursor=${encodeURIComponent(body.page.next_cursor)}`;
  }
}

/** Starts a server with a replica, and a standby with the same key. Waits until the standby has a copy. */
async function openPair() {
  const [first, second] = [installBinary(), installBinary()];
  const shop = await openShop(first);
  const place = makeDir();
  const server = await first.serve("--replicate-to", place);
  copyKey(first, second);
  const standby = await follow(second, place);
  await until("the copy", async () => (await readLag(standby)) !== undefined);
  return { ...shop, first, second, place, server, standby };
}

test("a standby that takes over from a server under load has all acknowledged writes", async () => {
  const { auth, namespace, first, second, place, server } = await openPair();
  const load = startLoad({ url: server.url, namespace, auth, clients: 4 });
  await until("some load", () => load.created.length > 40);
  const promoted = await second.serveBy([second.path, "standby", "promote", "--yes", "--port", "0"]);
  expect(await server.exited).toBe(4);
  await load.stop();
  const ids = await readIds(promoted, namespace, auth);
  expect(load.created.filter((id) => !ids.has(id))).toEqual([]);
  // The line is logged a moment later.
  await until("the count of segments", () => /[1-9]\d* segments were applied/.test(promoted.log()));
  expect(await promoted.end()).toBe(0);
  expect(await first.run("serve", "--port", "0", "--replicate-to", place)).toMatchObject({ code: 4, stdout: "" });
}, 60_000);

test("if the port is in use, promoting a standby fails, the old server continues, and the promotion can be repeated", async () => {
  const { second, place, server, standby } = await openPair();
  const promote = ["standby", "promote", "--yes", "--port"] as const;
  const { port } = new URL(server.url);
  expect(await second.run(...promote, port)).toMatchObject({ code: 1 });
  expect(await standby.exited).toBe(0);
  expect((await second.run("doctor")).stdout).toContain("No standby runs on");
  expect(readdirSync(place).filter((name) => name.startsWith("generation-"))).toHaveLength(1);
  for (const isAgain of [false, true]) {
    const promoted = await second.serveBy([second.path, ...promote, "0"]);
    await until("the replica", () => promoted.log().includes("goes on"));
    expect(await promoted.end()).toBe(0);
    if (!isAgain) expect(await server.exited).toBe(4);
  }
}, 60_000);

test("a standby without the secret key waits for it and then follows; after the server is killed, the standby takes over, and the killed server cannot start again", async () => {
  const first = installBinary();
  const { auth, namespace } = await openShop(first);
  const place = makeDir();
  const server = await first.serve("--replicate-to", place);
  const second = installBinary();
  const standby = await follow(second, place);
  const missing = "signed with the secret key of its server, which is missing here";
  await until("the notice", () => standby.log().includes(missing));
  expect(await second.run("standby", "promote", "--yes")).toMatchObject({ code: 4 });
  expect((await second.run("doctor")).stdout).toContain(missing);
  copyKey(first, second);
  await until("the copy", async () => (await readLag(standby)) !== undefined);
  expect(await second.run("doctor")).toMatchObject({ code: 0 });

  const load = startLoad({ url: server.url, namespace, auth, clients: 4 });
  await until("some load", () => load.created.length > 20);
  const early = [...load.created];
  const at = Date.now();
  await until("the copy to have it", async () => (await readLastChange(standby)) > at);
  server.signal("SIGKILL");
  await server.exited;
  await load.stop();
  expect((await second.run("health")).stdout).toContain("This is a standby of");
  expect(await second.run("tenant", "list")).toMatchObject({ code: 4 });

  const promoted = await second.serveBy([second.path, "standby", "promote", "--yes", "--port", "0"]);
  expect(await standby.exited).toBe(0);
  const ids = await readIds(promoted, namespace, auth);
  expect(early.filter((id) => !ids.has(id))).toEqual([]);
  const { passed } = await second.json<{ passed: Record<string, string[]> }>("doctor");
  expect(passed.database).toContain("integrity");
  await until("the takeover", () => promoted.log().includes("goes on"));

  const returned = await first.run("serve", "--port", "0", "--replicate-to", place);
  expect(returned.code).toBe(4);
  expect(returned.stdout).toBe("");
  expect(returned.stderr).toContain(defaultDataDir(second.dir));
  expect(await promoted.end()).toBe(0);
}, 60_000);
