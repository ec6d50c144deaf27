import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { type Binary, type IssuedKey, useBinaries } from "../support/binary.ts";
import { checkReply, type Envelope } from "../support/invariants.ts";
import type { Serving } from "../support/serving.ts";
import { hasSqld, type Sqld, startSqld } from "../support/sqld.ts";

const { installBinary, makeDir } = useBinaries();

/** Ways to run several server processes on one libSQL server. */
const stands = [
  { name: "one process", flags: [] },
  { name: "two workers", flags: ["--workers", "2"] },
];

/** The secret key of all copies on one database. */
const secret = "the one key of all copies, long enough";

interface Copy {
  name: string;
  binary: Binary;
  server: Serving;
}

describe.skipIf(!hasSqld)("servers that share one libSQL server", () => {
  const databaseDir = hasSqld ? makeDir() : "";
  let database: Sqld;
  let terminal: Binary;
  let copies: Copy[];
  let key: IssuedKey;
  let calls = 0;

  /** Sends a request to one server. By default, its IP address has no failed attempts. */
  async function ask(copy: Copy, path: string, { body, address, auth = key }: AskOptions = {}) {
    calls += 1;
    const reply = await fetch(`${copy.server.url}${path}?namespace=demo`, {
      method: body === undefined ? "GET" : "POST",
      headers: {
        authorization: `Bearer ${auth.app_id}:${auth.app_secret}`,
        "content-type": "application/json",
        "x-forwarded-for": address ?? `10.8.${calls >> 8}.${calls & 255}`,
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const { status, headers } = reply;
    const checked = checkReply({ method: "POST", status, headers, text: await reply.text() }) as Envelope;
    return { status, headers, code: checked.error?.code, data: checked.data as { id: string; title: string } };
  }

  const askAll = async (path: string) =>
    Promise.all(copies.map(async (copy) => [copy.name, (await ask(copy, path)).status]));
  const everywhere = (status: number) => stands.map(({ name }) => [name, status]);

  beforeAll(async () => {
    database = await startSqld({ dir: databaseDir });
    terminal = installBinary();
    Object.assign(terminal.env, { BODEGA_DATABASE_URL: database.url });
    await terminal.json("tenant", "create", "demo");
    key = await terminal.json<IssuedKey>("key", "issue", "-n", "demo", "--name", "web", "--publish");
    copies = await Promise.all(
      stands.map(async ({ name, flags }) => {
        const binary = installBinary();
        Object.assign(binary.env, { BODEGA_DATABASE_URL: database.url, BODEGA_SECRET: secret });
        return { name, binary, server: await binary.serve("--trusted-proxy", "127.0.0.1/32", ...flags) };
      }),
    );
  }, 60_000);

  afterAll(async () => {
    for (const { server } of copies ?? []) await server.end();
    await database?.stop();
  });

  test("a change by a command applies to the next call on each server", async () => {
    await terminal.json("key", "unpublish", key.app_id);
    expect(await askAll("/products/")).toEqual(everywhere(401));
    await terminal.json("key", "publish", key.app_id);
    expect(await askAll("/products/")).toEqual(everywhere(200));
  });

  test("an address may make ten failed attempts on all servers together", async () => {
    const wrong = { ...key, app_secret: `sk_${"w".repeat(43)}` };
    const codes: (number | undefined)[] = [];
    for (let attempt = 0; attempt < 12; attempt++) {
      const copy = copies[attempt % copies.length] as Copy;
      codes.push((await ask(copy, "/products/", { auth: wrong, address: "10.7.0.1" })).code);
    }
    expect(codes).toEqual([...Array<number>(10).fill(5203), 5209, 5209]);
  });

  test("concurrent sign-ins on all servers succeed, and continue one audit log", async () => {
    const password = "correct horse battery 7!Q";
    const emails = ["one", "two", "three"].map((name) => `${name}@example.com`);
    for (const email of emails) await ask(copies[0] as Copy, "/users/", { body: { email, password } });
    const logIns = copies.flatMap((copy) =>
      emails.map((email) => ask(copy, "/auth/login/", { body: { email, password } })),
    );
    expect((await Promise.all(logIns)).map(({ status }) => status)).toEqual(Array(logIns.length).fill(200));
    const listed = await terminal.json<unknown[]>("audit", "list", "--event", "login.succeeded", "--limit", "100");
    expect(listed.length).toBe(logIns.length);
    expect(await terminal.json("audit", "verify")).toMatchObject({ intact: true });
  });
});

interface AskOptions {
  body?: Record<string, unknown>;
  address?: string;
  auth?: IssuedKey;
}
