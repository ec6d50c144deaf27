import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { type Binary, type IssuedKey, useBinaries } from "../support/binary.ts";
import type { RawConnection } from "../support/raw-http.ts";
import type { Serving } from "../support/serving.ts";
import { type Answer, call, fromElsewhere } from "./calls.ts";
import { childrenOf, countSockets, hasProc } from "./processes.ts";

const { installBinary } = useBinaries();

const list = "/products/?namespace=demo";
const bearer = ({ app_id, app_secret }: IssuedKey) => ({ authorization: `Bearer ${app_id}:${app_secret}` });

let binary: Binary;
let key: IssuedKey;

beforeAll(async () => {
  binary = installBinary();
  const tenant = await binary.json("tenant", "create", "demo", "--title", "Demo", "--currency", "EUR");
  expect(tenant).toEqual({
    namespace: "demo",
    title: "Demo",
    domain: null,
    url: null,
    currency: "EUR",
    currency_sign: "€",
    logo: null,
    status: "active",
    created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
  });
  key = await binary.json<IssuedKey>("key", "issue", "-n", "demo", "--name", "web");
  expect(key).toEqual({
    app_id: expect.stringMatching(/^app_[0-9a-z]{26}$/),
    app_secret: expect.stringMatching(/^sk_[A-Za-z0-9_-]{43}$/),
    namespace: "demo",
    name: "web",
    scopes: ["*"],
    active: true,
    published: false,
    origins: [],
    enforce_origins: false,
    allow_no_origin: false,
    created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
  });
});

describe.each([1, 2])("with %d worker(s)", (workers) => {
  let server: Serving;
  let connections: RawConnection[];

  /** Sends a request on each connection, each from an address without failed attempts. */
  async function askEverywhere(headers: Record<string, string>): Promise<(number | undefined)[]> {
    const answers: Answer[] = [];
    for (const connection of connections) {
      answers.push(await call(connection, { path: list, headers: { ...headers, ...fromElsewhere() } }));
    }
    return answers.map(({ status, code }) => code ?? status);
  }

  beforeAll(async () => {
    server = await binary.serve("--workers", String(workers), "--trusted-proxy", "127.0.0.1/32");
    connections = await openEverywhere(server);
  });

  afterAll(() => server.end());

  test("a key works from the first call after it is published until the last call before it is revoked", async () => {
    const everywhere = (outcome: number) => connections.map(() => outcome);
    expect(await askEverywhere(bearer(key))).toEqual(everywhere(5203));
    for (let round = 0; round < 6; round++) {
      expect(await binary.json("key", "publish", key.app_id)).toMatchObject({ published: true });
      expect(await askEverywhere(bearer(key))).toEqual(everywhere(200));
      expect(await binary.json("key", "unpublish", key.app_id)).toMatchObject({ published: false });
      expect(await askEverywhere(bearer(key))).toEqual(everywhere(5203));
    }
  }, 30_000);

  test("an address has ten failed attempts over all processes; a valid key is not blocked", async () => {
    const published = await binary.json<IssuedKey>("key", "issue", "-n", "demo", "--name", "good", "--publish");
    const address = fromElsewhere();
    const codes: (number | undefined)[] = [];
    for (let attempt = 0; attempt < 12; attempt++) {
      const connection = connections[attempt % connections.length] as RawConnection;
      const { code, headers } = await call(connection, { path: list, headers: { ...bearer(key), ...address } });
      codes.push(code);
      if (code === 5209) expect(Number(headers.get("retry-after"))).toBeWithin(1, 61);
    }
    expect(codes).toEqual([...Array<number>(10).fill(5203), 5209, 5209]);
    for (const connection of connections) {
      expect(await call(connection, { path: list, headers: { ...bearer(published), ...address } })).toMatchObject({
        status: 200,
      });
    }
  });
});

describe("accepted credentials", () => {
  let server: Serving;
  let connection: RawConnection;
  let other: IssuedKey;
  let shop: IssuedKey;

  const ask = async (headers: Record<string, string>, query = "") => {
    const { status, code } = await call(connection, {
      path: `${list}${query}`,
      headers: { ...fromElsewhere(), ...headers },
    });
    return code === undefined ? status : [status, code];
  };

  beforeAll(async () => {
    shop = await binary.json<IssuedKey>("key", "issue", "-n", "demo", "--name", "shop", "--publish");
    await binary.json("tenant", "create", "other");
    other = await binary.json<IssuedKey>("key", "issue", "-n", "other", "--name", "web", "--publish");
    server = await binary.serve("--trusted-proxy", "127.0.0.1/32");
    connection = server.connect();
  });

  afterAll(() => server.end());

  test("a key is accepted in the header with any case of the scheme, in the query and in the body", async () => {
    const { app_id, app_secret } = shop;
    expect(await ask({ authorization: `bEaReR ${app_id}:${app_secret}` })).toBe(200);
    expect(await ask({}, `&app_id=${app_id}&app_secret=${app_secret}`)).toBe(200);
    const body = { namespace: "demo", app_id, app_secret, title: "Lamp", price: 19.99 };
    const created = await call(connection, { path: "/products/", body });
    expect(created).toMatchObject({ status: 201, body: { data: { title: "Lamp", price: 19.99, price_minor: 1999 } } });
  });

  test("a wrong secret, another tenant's key and incomplete credentials are refused", async () => {
    const { app_id, app_secret } = shop;
    const wrong = `${app_secret.slice(0, -1)}${app_secret.endsWith("A") ? "B" : "A"}`;
    expect(await ask({ authorization: `Bearer ${app_id}:${wrong}` })).toEqual([401, 5203]);
    expect(await ask(bearer(other))).toEqual([401, 5203]);
    expect(await ask({ authorization: `Bearer ${app_id}` })).toEqual([400, 5202]);
    expect(await ask({ authorization: `Bearer ${app_id}:` })).toEqual([400, 5202]);
    expect(await ask({}, `&app_id=${app_id}`)).toEqual([400, 5202]);
    expect(await ask({}, `&app_secret=${app_secret}`)).toEqual([400, 5202]);
    expect(await ask({})).toEqual([401, 5206]);
  });

  test("an allowlist accepts exact hosts and subdomains, and no similar hosts", async () => {
    const set = ["origin", "set", shop.app_id, "shop.example.com", "*.example.org"];
    expect(await binary.run(...set)).toMatchObject({ code: 0 });
    const from = (origin?: string) => ask({ ...bearer(shop), ...(origin !== undefined && { origin }) });
    for (const origin of ["https://shop.example.com", "https://a.b.example.org"]) expect(await from(origin)).toBe(200);
    const refused = [
      "https://example.org",
      "https://evilexample.org",
      "https://shop.example.com.evil.com",
      "https://evil.com/shop.example.com",
      "null",
      undefined,
    ];
    for (const origin of refused) expect([origin, await from(origin)]).toEqual([origin, [401, 5203]]);
    expect(await binary.run(...set, "--allow-no-origin")).toMatchObject({ code: 0 });
    expect(await from()).toBe(200);
    expect(await from("null")).toEqual([401, 5203]);
  });
});

/** Opens keep-alive connections, at least six, until every listening process has one. */
async function openEverywhere(server: Serving): Promise<RawConnection[]> {
  const listeners = hasProc ? childrenOf(server.pid) : [];
  const before = listeners.map(countSockets);
  const connections: RawConnection[] = [];
  const holdsOne = (pid: number, index: number) => countSockets(pid) > (before[index] as number);
  while (connections.length < 6 || !listeners.every(holdsOne)) {
    if (connections.length === 64) throw new Error("Not every worker takes connections");
    const connection = server.connect();
    await call(connection, { path: "/health/live" });
    connections.push(connection);
  }
  return connections;
}
