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
  await binary.json("tenant", "create", "demo");
  key = await binary.json<IssuedKey>("key", "issue", "-n", "demo", "--name", "web");
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
