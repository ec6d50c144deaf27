import { afterAll, beforeAll, expect, test } from "bun:test";
import { join } from "node:path";
import { openStoreDatabase } from "../../../src/server/admin/open-database.ts";
import { Connection } from "../../../src/server/db/local/connection.ts";
import type { FileDatabase } from "../../../src/server/db/local/file-database.ts";
import { loadLibsql } from "../../../src/server/db/local/load-libsql.ts";
import { migrate } from "../../../src/server/db/migrate.ts";
import { unavailable } from "../../../src/server/errors.ts";
import type { RecentRequest } from "../../../src/server/monitoring/process-monitor.ts";
import { createReadiness } from "../../../src/server/monitoring/readiness.ts";
import { makeDir } from "../../db/kinds.ts";
import { startTestApp } from "../../support/app.ts";
import { openTestDatabase, type TestDatabase } from "../../support/backend.ts";
import { createClient } from "../../support/client.ts";

let database: TestDatabase;

beforeAll(async () => {
  database = await openTestDatabase("file");
});
afterAll(() => database.close());

/** Returns the readiness reply of a server with these options. */
async function askReady(options: Partial<Parameters<typeof startTestApp>[0]>) {
  const app = startTestApp({ db: database.db, ...options });
  const reply = await createClient(app)("GET /health/ready", { namespace: null });
  const alive = await createClient(app)("GET /health/live", { namespace: null });
  const head = await fetch(`${app.url}/health/ready`, { method: "HEAD" });
  await app.stop();
  expect([alive.status, head.status, await head.text()]).toEqual([200, reply.status, ""]);
  return reply;
}

test("a working server replies that it is ready, without credentials, and the reply contains nothing else", async () => {
  const { status, data } = await askReady({ freeBytes: () => 10_000_000_000 });
  expect([status, data]).toEqual([200, { status: "ok" }]);
});

test("a server that is not ready replies 503 with all reasons", async () => {
  for (const [options, fields] of [
    [{ isDraining: () => true, freeBytes: () => 0 }, ["server"]],
    [{ freeBytes: () => 1000 }, ["disk"]],
  ] as const) {
    const { status, code, fields: named, headers } = await askReady(options);
    expect([status, code, named, headers.get("retry-after")]).toEqual([503, 5001, [...fields], "1"]);
  }
  await database.db.execute("insert into __bodega_migrations values ('9999_newer', 'x', '2030-01-01T00:00:00.000Z')");
  const both = await askReady({ freeBytes: () => 0 });
  await database.db.execute("delete from __bodega_migrations where name = '9999_newer'");
  expect([both.status, both.fields]).toEqual([503, ["schema", "disk"]]);
  expect((await askReady({})).status).toBe(200);
});

test("the reasons name a database that does not answer, without its internal error", async () => {
  const broken = await openTestDatabase("file");
  await broken.db.execute("alter table __bodega_migrations rename to secret_name");
  await broken.db.execute("create view __bodega_migrations as select * from missing_inside");
  const { status, fields } = await askReady({ db: broken.db });
  expect([status, fields]).toEqual([503, ["schema"]]);
  await broken.close();
  const reply = await askReady({ db: broken.db });
  expect([reply.status, reply.fields]).toEqual([503, ["database"]]);
  expect(reply.text).not.toMatch(/sql|closed|missing_inside/i);
});

test("a server is not ready while writes cannot be committed; a probe of a working server writes nothing", async () => {
  const dir = makeDir();
  const db = (await openStoreDatabase({ dataDir: dir, lockDeadlineMs: 50 })) as FileDatabase;
  await migrate(db);
  const findUnready = createReadiness({ db, isDraining: () => false, freeBytes: () => null });
  const message = async () => (await findUnready())?.message;
  const write = () =>
    db.execute("UPDATE revision SET value = value + 1").then(
      () => "written",
      ({ message }) => message,
    );
  const other = new Connection(await loadLibsql(), join(dir, "bodega.db"));
  other.run("BEGIN IMMEDIATE");
  // No write has failed yet.
  expect(await message()).toBeUndefined();
  expect([await write(), await message(), await message()]).toEqual(Array(3).fill("The database is busy."));
  other.run("ROLLBACK");
  const before = db.queue.commits;
  expect([await message(), db.queue.commits]).toEqual([undefined, before + 1]);
  expect([await message(), db.queue.commits]).toEqual([undefined, before + 1]);

  const { run } = db.writer;
  db.writer.run = (sql, args) => {
    if (sql === "COMMIT") throw unavailable("The database's disk cannot be read or written.");
    return run.call(db.writer, sql, args);
  };
  expect([await write(), await message()]).toEqual(Array(2).fill("The database's disk cannot be read or written."));
  db.writer.run = run;
  expect([await message(), await write()]).toEqual([undefined, "written"]);
  other.close();
  await db.close();
});

test("a hanging libSQL server is reported in time, and gets one query for all callers", async () => {
  let connections = 0;
  // The system accepts connections, but nothing replies, as with a hanging server.
  const hung = Bun.listen({ port: 0, hostname: "127.0.0.1", socket: { open: () => void connections++, data() {} } });
  const db = await openStoreDatabase({ dataDir: "", url: `http://127.0.0.1:${hung.port}` });
  const findUnready = createReadiness({ db, isDraining: () => false, freeBytes: () => null, timeoutMs: 50 });
  for (let round = 0; round < 2; round++) {
    const answers = await Promise.all(Array.from({ length: 5 }, findUnready));
    expect(answers.map((answer) => [answer?.code, answer?.details?.map(({ field }) => field)])).toEqual(
      Array(5).fill([5001, ["database"]]),
    );
  }
  // There is one connection for reads and one for writes.
  expect(connections).toBeLessThanOrEqual(2);
  hung.stop(true);
  await db.close();
});

test("of all requests to /health/live, only those of doctor are recorded", async () => {
  const seen: RecentRequest[] = [];
  const app = startTestApp({ db: database.db, trustedProxies: ["127.0.0.1/32"], onSeen: (one) => seen.push(one) });
  const headers = {
    "x-request-id": "doctor-0123456789",
    "x-forwarded-for": "203.0.113.9",
    "x-forwarded-proto": "https",
    "x-forwarded-host": "h".repeat(5000),
    authorization: "Bearer not-to-be-kept",
  };
  await fetch(`${app.url}/health/live`, { headers });
  await fetch(`${app.url}/health/ready`, { headers });
  await fetch(`${app.url}/health/live`, { headers: { ...headers, "x-request-id": "another-0123456789" } });
  await fetch(`${app.url}/health/live`, { method: "POST", headers });
  expect(seen).toEqual([
    {
      request_id: "doctor-0123456789",
      at: expect.any(String),
      peer: "127.0.0.1",
      client: "203.0.113.9",
      protocol: "http",
      host: `127.0.0.1:${app.port}`,
      forwarded: {
        "x-forwarded-for": "203.0.113.9",
        "x-forwarded-host": "h".repeat(500),
        "x-forwarded-proto": "https",
      },
    },
  ]);
  await app.stop();
});
