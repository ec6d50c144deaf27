import { afterAll, afterEach, beforeEach, describe, expect, spyOn, test } from "bun:test";
import { readFileSync, rmSync, statSync, truncateSync } from "node:fs";
import { connect as connectTo } from "node:net";
import { join } from "node:path";
import type { BeforeCommit } from "../../src/server/db/group-commit/writer.ts";
import { type DatabaseOptions, openDatabase } from "../../src/server/db/open.ts";
import type { ServerDatabase } from "../../src/server/db/server/server-database.ts";
import type { Database } from "../../src/server/db/session.ts";
import { startHttpFront } from "../support/http-front.ts";
import { hasSqld, type Sqld, startSqld } from "../support/sqld.ts";
import { startTcpProxy, type TcpProxy } from "../support/tcp-proxy.ts";
import { until } from "../support/until.ts";
import { createTable, insertRow } from "./fixtures.ts";
import { createWriteGroups, makeDir } from "./kinds.ts";

const ways = ["websocket", "http"] as const;
type Way = (typeof ways)[number];

describe.if(hasSqld)("a libSQL server", () => {
  /**
   * All tests use one server. A test that damages the server's files clears `dir`, so that the next test gets a new
   * server.
   */
  let dir: string | undefined;
  let server: Sqld;
  let proxy: TcpProxy;
  const open: Database[] = [];
  const stopping: (() => void)[] = [];

  /** The address of the proxy. For HTTP, the proxy refuses WebSockets, as hosted servers do. */
  function addressOf(way: Way): string {
    if (way === "websocket") return `http://127.0.0.1:${proxy.port}`;
    const front = startHttpFront(`http://127.0.0.1:${proxy.port}`);
    stopping.push(front.stop);
    return front.url;
  }

  async function connect(options: Partial<DatabaseOptions> = {}) {
    const db = await openDatabase({ dataDir: "unused", url: server.url, ...options });
    open.push(db);
    return db;
  }

  /** Connects through the proxy to a server with a table. */
  async function connectThrough(way: Way, options: Partial<DatabaseOptions> = {}) {
    const db = await connect({ url: addressOf(way), ...options });
    await db.execute("INSERT OR IGNORE INTO things (name) VALUES ('first')");
    await db.execute("SELECT 1");
    return db;
  }

  const namesIn = async (db: Database) =>
    (await db.execute("SELECT name FROM things ORDER BY name")).rows.map((row) => row.name);

  beforeEach(async () => {
    if (dir === undefined) {
      dir = makeDir();
      server = await startSqld({ dir });
    }
    proxy = await startTcpProxy(Number(new URL(server.url).port));
    const db = await openDatabase({ dataDir: dir, url: server.url });
    await db.migrate([
      "DROP TABLE IF EXISTS write_groups",
      "DROP TABLE IF EXISTS things",
      createWriteGroups,
      createTable,
    ]);
    await db.close();
  });

  afterEach(async () => {
    proxy.onSend = proxy.onAnswer = (bytes) => bytes;
    for (const db of open.splice(0)) await db.close().catch(() => {});
    for (const stop of stopping.splice(0)) stop();
    proxy.stop();
  });

  const discardServer = async () => {
    await server.stop();
    rmSync(dir as string, { recursive: true, force: true });
    dir = undefined;
  };
  afterAll(discardServer);

  const restart = async () => {
    const port = Number(new URL(server.url).port);
    server = await startSqld({ dir: dir as string, port });
  };

  const refused = { status: "rejected", reason: { code: 5001 } };

  /** Returns the milliseconds until a call was refused, or NaN if it was not refused. */
  function msUntilRefused(call: Promise<unknown>): Promise<number> {
    const arrivedAt = performance.now();
    return call.then(
      () => Number.NaN,
      ({ code }) => (code === 5001 ? performance.now() - arrivedAt : Number.NaN),
    );
  }

  /** Pauses the server: it replies nothing, and its connections stay open. */
  async function pauseServer(): Promise<void> {
    process.kill(server.pid, "SIGSTOP");
    await until("it is stopped", () => / T /.test(readFileSync(`/proc/${server.pid}/stat`, "utf8")));
  }

  test("each invalid form of an address is refused with 5102, and each valid form connects", async () => {
    for (const url of ["ftp://example.org", "bodega.db", "file:x.db", "http://"]) {
      await expect(connect({ url })).rejects.toMatchObject({ code: 5102 });
    }
    const socket = await connect({ url: server.url.replace("http:", "ws:") });
    expect((await socket.execute("SELECT 1 AS one")).rows[0]?.one).toBe(1);
  });

  test("a libSQL server that acknowledges writes too early works, with a warning until its durability mode is strong", async () => {
    await server.setDurability("relaxed");
    const db = (await connect()) as ServerDatabase;
    await db.execute(insertRow("relaxed"));
    expect(db.warning).toContain("before they are on its disk");
    await server.setDurability("strong");
    await db.checkWrites();
    await db.execute(insertRow("strong"));
    expect(db.warning).toBeUndefined();
    expect(await namesIn(db)).toEqual(["relaxed", "strong"]);
  });

  test("while a server answers but commits no writes for twice the deadline of a write, the check of writes fails", async () => {
    const db = await connect({ lockDeadlineMs: 500 });
    await db.execute(insertRow("first"));
    const other = await connect();
    const [held, free] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const holding = other.transaction(async (tx) => {
      await tx.execute(insertRow("held"));
      held.resolve();
      await free.promise;
    });
    await held.promise;
    await expect(db.execute(insertRow("refused"))).rejects.toMatchObject({ code: 5001 });
    await db.checkWrites();
    const reason = await until("no write was committed for long", () => db.checkWrites().then(() => undefined, String));
    expect(reason).toContain("answers, but commits no writes");
    expect(await namesIn(db)).toEqual(["first"]);
    free.resolve();
    await holding;
    await db.checkWrites();
    expect(await namesIn(db)).toContain("held");
  });

  test("the token is read again at each connection, and the error says if the server refused the token", async () => {
    let token = "one";
    const seen = new Set<string | null>();
    const front = Bun.serve({
      hostname: "127.0.0.1",
      port: 0,
      fetch(request) {
        seen.add(request.headers.get("authorization"));
        return new Response("the token is not valid", { status: request.headers.has("upgrade") ? 426 : 401 });
      },
    });
    stopping.push(() => front.stop(true));
    const db = await connect({ url: `http://127.0.0.1:${front.port}`, readToken: () => token });
    const failure = { code: 5001, message: expect.stringContaining("refused its token") };
    await expect(db.execute("SELECT 1")).rejects.toMatchObject(failure);
    token = "two";
    await expect(db.execute(insertRow("x"))).rejects.toMatchObject(failure);
    expect(seen).toContain("Bearer one");
    expect(seen).toContain("Bearer two");
  });

  test("if a token is refused over a WebSocket, reads and writes fail, and the error says so", async () => {
    const hello = JSON.stringify({ type: "hello_error", error: { message: "no", code: "AUTH_JWT_INVALID" } });
    const front = Bun.serve({
      hostname: "127.0.0.1",
      port: 0,
      fetch(request, self) {
        const headers = { "Sec-WebSocket-Protocol": "hrana2" };
        return self.upgrade(request, { headers }) ? undefined : new Response(null, { status: 401 });
      },
      websocket: { message: (socket) => void socket.send(hello) },
    });
    stopping.push(() => front.stop(true));
    const db = await connect({ url: `http://127.0.0.1:${front.port}` });
    const failure = { code: 5001, message: expect.stringContaining("refused its token") };
    await expect(db.execute("SELECT 1")).rejects.toMatchObject(failure);
    await expect(db.execute(insertRow("x"))).rejects.toMatchObject(failure);
  });

  test("statements that a transaction starts together are sent in one message, within the transaction", async () => {
    const db = await connect();
    await db.execute(insertRow("first"));
    const other = await connect();
    const [a, b, c] = await db.transaction(async (tx) => {
      const both = await Promise.all([
        tx.execute(insertRow("together")),
        tx.execute("SELECT count(*) AS n FROM things"),
        tx.execute("SELECT name FROM things ORDER BY id DESC LIMIT 1"),
      ]);
      expect(await namesIn(other)).toEqual(["first"]);
      return both;
    });
    expect([a.rowsAffected, b.rows[0]?.n, c.rows[0]?.name]).toEqual([1, 2, "together"]);
    const failing = db.transaction((tx) =>
      Promise.all([tx.execute(insertRow("half")), tx.execute(insertRow("first")), tx.execute(insertRow("more"))]),
    );
    expect(String(await failing.catch((error) => error))).toContain("UNIQUE");
    expect(await namesIn(db)).toEqual(["first", "together"]);
  });

  test("a message that arrives after a later group was committed writes nothing, and the later group is acknowledged", async () => {
    const db = await connectThrough("http");
    let late: Buffer | undefined;
    proxy.onSend = (bytes) => {
      const closes = bytes.includes('"close"');
      if (late !== undefined) return closes ? null : bytes;
      late = bytes;
      proxy.cut();
      return null;
    };
    await expect(db.execute(insertRow("late"))).rejects.toMatchObject({ code: 5001 });
    const answers: string[] = [];
    await db.transaction(async (tx) => {
      await tx.execute(insertRow("kept"));
      // The answer to the COMMIT is lost. Its result is read after the late message was executed.
      proxy.onAnswer = () => {
        proxy.onSend = proxy.onAnswer = (all) => all;
        const socket = connectTo(Number(new URL(server.url).port), "127.0.0.1", () => socket.write(late ?? ""));
        socket.once("data", (bytes) => {
          answers.push(String(bytes));
          socket.destroy();
          proxy.cut();
        });
        return null;
      };
    });
    expect(answers).toEqual([expect.stringContaining("NOT NULL constraint failed")]);
    expect(await namesIn(db)).toEqual(["first", "kept"]);
    await db.execute(insertRow("after"));
  }, 20_000);

  describe.each(ways)("over %s", (way) => {
    test("while the server cannot be reached, every call fails with 5001", async () => {
      const db = await connectThrough(way);
      await server.stop();
      const attempts = [
        db.execute("SELECT 1"),
        db.execute(insertRow("lost")),
        db.batch(["SELECT 1"], "read"),
        db.batch([insertRow("lost")]),
        db.transaction((tx) => tx.execute(insertRow("lost"))),
        db.migrate([createTable]),
      ];
      for (const one of await Promise.allSettled(attempts)) expect(one).toMatchObject(refused);
      await restart();
      await db.transaction((tx) => tx.execute(insertRow("after")));
      expect(await namesIn(db)).toEqual(["after", "first"]);
    }, 40_000);

    test("the reads of one turn share a round trip, and a failed read does not affect the others", async () => {
      const db = await connectThrough(way);
      let trips = 0;
      proxy.onSend = (bytes) => {
        trips++;
        return bytes;
      };
      const reads = Array.from({ length: 20 }, (_, i) => db.execute({ sql: "SELECT ? AS n", args: [i] }));
      expect((await Promise.all(reads)).map(({ rows }) => rows[0]?.n)).toEqual(Array.from({ length: 20 }, (_, i) => i));
      expect(trips).toBe(1);
      for (const bad of ["SELECT * FROM missing", "SELECT FROM WHERE", "SELECT 9007199254740993"]) {
        const outcomes = await Promise.allSettled([db.execute("SELECT 1 AS n"), db.execute(bad)]);
        expect(outcomes.map(({ status }) => status)).toEqual(["fulfilled", "rejected"]);
      }
    });

    test("equal reads of one turn are sent only once; a number and its text are not equal", async () => {
      const db = await connectThrough(way);
      const random = await Promise.all(
        [1, 1, "1"].map((arg) => db.execute({ sql: "SELECT hex(randomblob(8)), ?", args: [arg] })),
      );
      const [one = [], same = [], text = []] = random.map(({ rows }) => [rows[0]?.[0], rows[0]?.[1]]);
      expect(same).toEqual(one);
      expect([text[0] === one[0], text[1]]).toEqual([false, "1"]);
    });

    test("answers that are too large together are fetched one by one, and a single answer that is too large is refused", async () => {
      const db = await connectThrough(way);
      const large = () => db.execute("SELECT hex(zeroblob(2000000)) AS text");
      const tooLarge = db.execute(`SELECT ${Array(3).fill("hex(zeroblob(2000000))")}`).catch(({ code }) => code);
      const lengths = (await Promise.all([large(), large(), large()])).map(({ rows }) => String(rows[0]?.text).length);
      expect(lengths).toEqual([4_000_000, 4_000_000, 4_000_000]);
      expect(await tooLarge).toBe("RESPONSE_TOO_LARGE");
    });

    test("a failed read reports the error that ended its transaction, not the error of its COMMIT", async () => {
      const db = await connectThrough(way);
      const wal = join(dir as string, "dbs/default/data-wal");
      await db.execute("UPDATE things SET size = 'x' || hex(zeroblob(50000))");
      const { size } = statSync(wal);
      await db.execute("UPDATE things SET size = replace(size, '0', '1')");
      // The last update overwrote pages of the table, which the server now cannot read any more.
      truncateSync(wal, size);
      const read = db.execute("SELECT size FROM things");
      await expect(read).rejects.toMatchObject({ code: 5001, message: expect.stringContaining("disk") });
      await discardServer();
    });

    test("a read is repeated once on a new connection after its connection was lost", async () => {
      const db = await connectThrough(way);
      proxy.cut();
      expect(await namesIn(db)).toEqual(["first"]);
    });

    test("waiting writes share one commit, and each succeeds or fails alone", async () => {
      const db = (await connectThrough(way)) as ServerDatabase;
      const before = db.queue.commits;
      const writes = Array.from({ length: 20 }, (_, i) => db.execute(insertRow(`write ${i}`)));
      const wrong = db.batch([insertRow("half"), "INSERT INTO missing VALUES (1)"]);
      const unreadable = db.batch([insertRow("half"), "INSERT INTO WHERE"]);
      const transactions = Array.from({ length: 10 }, (_, i) =>
        db.transaction(async (tx) => {
          await tx.execute(insertRow(`transaction ${i}`));
          if (i === 5) throw new Error("changed its mind");
        }),
      );
      const outcomes = await Promise.allSettled([...writes, wrong, unreadable, ...transactions]);
      expect(outcomes.filter(({ status }) => status === "rejected")).toHaveLength(3);
      expect(await namesIn(db)).toHaveLength(1 + 20 + 9);
      expect(await namesIn(db)).not.toContain("half");
      // A busy machine may need several groups, because a group ends after a time limit.
      expect(db.queue.commits - before).toBeLessThan(10);
    });

    test("if another process keeps the lock, a write fails with 5001 after its deadline, and nothing is written", async () => {
      const db = await connectThrough(way, { lockDeadlineMs: 1500 });
      const other = await connect();
      const held = Promise.withResolvers<void>();
      const free = Promise.withResolvers<void>();
      const holding = other.transaction(async (tx) => {
        await tx.execute(insertRow("held"));
        held.resolve();
        await free.promise;
      });
      await held.promise;
      const attempts = [db.execute(insertRow("x")), db.transaction((tx) => tx.execute(insertRow("x")))];
      for (const one of await Promise.allSettled(attempts)) expect(one).toMatchObject(refused);
      free.resolve();
      await holding;
      expect(await namesIn(db)).toEqual(["first", "held"]);
    });

    test("a transaction that was refused while it waited for the lock does not keep the lock when the server begins it", async () => {
      const refusing = await connectThrough(way, { lockDeadlineMs: 500 });
      const [holder, next] = [await connect(), await connect({ lockDeadlineMs: 2500 })];
      const [held, free] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
      const holding = holder.transaction(async (tx) => {
        await tx.execute(insertRow("held"));
        held.resolve();
        await free.promise;
      });
      await held.promise;
      await expect(refusing.transaction((tx) => tx.execute(insertRow("refused")))).rejects.toMatchObject({
        code: 5001,
      });
      free.resolve();
      await holding;
      await next.execute(insertRow("next"));
      expect(await namesIn(next)).toEqual(["first", "held", "next"]);
    });

    test("a transaction that takes longer than a second is ended, and the others of its group are committed", async () => {
      const db = await connectThrough(way);
      // The first unit of a group also has the time to wait for the lock.
      const before = [db.execute(insertRow("beside"))];
      const slow = db.transaction(async (tx) => {
        await tx.execute(insertRow("slow"));
        await Bun.sleep(1300);
        await tx.execute(insertRow("slow too"));
      });
      const others = [...before, db.transaction((tx) => tx.execute(insertRow("behind")))];
      await expect(slow).rejects.toMatchObject({ code: 5001 });
      await Promise.all(others);
      expect(await namesIn(db)).toEqual(["behind", "beside", "first"]);
    });

    test("if the server's time limit ends a group of writes, they fail with 5001, and none of their statements is committed alone", async () => {
      const db = await connectThrough(way);
      // The server ends a transaction after five seconds if another writer waits.
      const other = await connect({ lockDeadlineMs: 10_000 });
      const ended = db.transaction(async (tx) => {
        await tx.execute(insertRow("before the limit"));
        const waiting = other.execute(insertRow("other"));
        await Bun.sleep(5300);
        await waiting;
        await tx.execute(insertRow("behind the limit"));
      });
      const neighbour = db.transaction((tx) => tx.execute(insertRow("neighbour")));
      const outcomes = await Promise.allSettled([ended, neighbour]);
      expect(outcomes[0]).toMatchObject(refused);
      const names = await namesIn(db);
      expect(names).toContain("other");
      expect(names).not.toContain("before the limit");
      expect(names).not.toContain("behind the limit");
      expect(names.includes("neighbour")).toBe(outcomes[1].status === "fulfilled");
      await db.execute(insertRow("after"));
    }, 30_000);

    test("a commit without a reply is looked up: if it took effect, it is acknowledged, and it is never repeated", async () => {
      const db = await connectThrough(way);
      await db.transaction(async (tx) => {
        await tx.execute(insertRow("kept"));
        // The next answer is to the COMMIT.
        proxy.onAnswer = () => {
          proxy.onAnswer = (all) => all;
          proxy.cut();
          return null;
        };
      });
      expect(await namesIn(db)).toEqual(["first", "kept"]);
    }, 20_000);

    test("statements in a COMMIT message without a reply fail with 5001, and earlier statements of the group are acknowledged", async () => {
      const db = await connectThrough(way);
      const before = db.transaction(async (tx) => {
        await tx.execute(insertRow("before"));
        // The next answer is to the last statements, which include the COMMIT.
        proxy.onAnswer = () => {
          proxy.onAnswer = (all) => all;
          proxy.cut();
          return null;
        };
      });
      const last = db.execute(insertRow("last"));
      expect(await Promise.allSettled([before, last])).toMatchObject([{ status: "fulfilled" }, refused]);
      expect(await namesIn(db)).toEqual(["before", "first", "last"]);
    }, 20_000);

    test("a write whose only message was lost fails with 5001 and is not sent again, because the message may still arrive", async () => {
      const db = await connectThrough(way);
      proxy.onSend = () => {
        proxy.onSend = (all) => all;
        proxy.cut();
        return null;
      };
      await expect(db.execute(insertRow("x"))).rejects.toMatchObject({ code: 5001 });
      await db.execute(insertRow("after"));
      expect(await namesIn(db)).toEqual(["after", "first"]);
    }, 20_000);

    test("a single waiting write needs one message to the server, or two if there is work before the commit", async () => {
      const reads = ["SELECT id FROM things WHERE size IS NULL AND name LIKE 'new%'"];
      const finish: BeforeCommit["finish"] = () => ["UPDATE things SET size = 1 WHERE name LIKE 'new%'"];
      const db = await connectThrough(way, { beforeCommit: async () => ({ reads, finish }) });
      const answersTo = async (work: () => Promise<unknown>) => {
        let answers = 0;
        proxy.onAnswer = (bytes) => {
          answers++;
          return bytes;
        };
        await work();
        return answers;
      };
      expect(await answersTo(() => db.execute(insertRow("plain")))).toBe(1);
      expect(await answersTo(() => db.execute(insertRow("new")))).toBe(2);
      expect(await answersTo(() => db.transaction((tx) => tx.execute(insertRow("newer"))))).toBe(2);
      const failing = () =>
        db.transaction((tx) => Promise.all([tx.execute(insertRow("newest")), Promise.reject("no")]));
      await expect(failing()).rejects.toBe("no");
      expect(await namesIn(db)).toEqual(["first", "new", "newer", "plain"]);
    });

    test("a call that a transaction did not await is executed within this transaction", async () => {
      const db = await connectThrough(way);
      proxy.delayMs = 20;
      const done: string[] = [];
      await db.transaction(async (tx) => {
        for (const name of ["one", "two"]) {
          void tx.execute(insertRow(name)).then(() => done.push(name));
          await Bun.sleep(1);
        }
      });
      expect(done).toEqual(["one", "two"]);
    });

    test("a commit that never reached the server fails with 5001, and nothing is written", async () => {
      const db = await connectThrough(way);
      const attempt = db.transaction(async (tx) => {
        await tx.execute(insertRow("x"));
        proxy.onSend = () => {
          proxy.onSend = (all) => all;
          proxy.cut();
          return null;
        };
      });
      await expect(attempt).rejects.toMatchObject({ code: 5001 });
      expect(await namesIn(db)).toEqual(["first"]);
    }, 20_000);

    test("after a long pause, a write uses a new connection, because the old one may have been cut", async () => {
      const db = await connectThrough(way);
      if (way === "websocket") proxy.silence();
      else {
        // The server forgets its streams, as it does with idle streams.
        await server.stop();
        await restart();
      }
      const now = performance.now.bind(performance);
      const clock = spyOn(performance, "now").mockImplementation(() => now() + 31_000);
      stopping.push(() => clock.mockRestore());
      await db.execute(insertRow("after"));
      expect(await namesIn(db)).toEqual(["after", "first"]);
    });

    test("calls to a hanging server fail with 5001 within ten seconds, and a write that waits for other writes within five", async () => {
      const [db, committing] = [await connectThrough(way), await connectThrough(way)];
      const paused = Promise.withResolvers<void>();
      const commit = committing.transaction(async (tx) => {
        await tx.execute(insertRow("zero"));
        await Bun.sleep(3000);
        await pauseServer();
        paused.resolve();
      });
      const calls = [msUntilRefused(commit)];
      await paused.promise;
      // After this time, the group accepts no more units.
      await Bun.sleep(100);
      const behind = msUntilRefused(committing.execute(insertRow("behind")));
      calls.push(msUntilRefused(db.execute("SELECT 1")));
      for (let i = 0; i < 5; i++) calls.push(msUntilRefused(db.execute(insertRow(`stopped ${i}`))));
      calls.push(msUntilRefused(db.transaction((tx) => tx.execute(insertRow("stopped")))));
      // This repeats the check, like readiness probes.
      const probing = setInterval(() => db.checkWrites().catch(() => {}), 200);
      // The reads arrive one after another, so that later reads wait for earlier reads.
      for (let count = 0; count < 12; count++) {
        calls.push(msUntilRefused(db.batch([{ sql: "SELECT ?", args: [count] }, "SELECT 2"], "read")));
        await Bun.sleep(250);
      }
      calls.push(msUntilRefused(db.execute(insertRow("late"))));
      const waits = await Promise.all(calls);
      clearInterval(probing);
      process.kill(server.pid, "SIGCONT");
      // The limit includes a second for a busy machine.
      expect(waits.filter((ms) => !(ms < 11_000))).toEqual([]);
      expect(await behind).toBeLessThan(6000);
      // Over HTTP, the server keeps the lock of the lost transaction until its time limit.
      await until("it writes again", () =>
        db.execute("INSERT OR IGNORE INTO things (name) VALUES ('after')").then(
          () => true,
          () => false,
        ),
      );
      expect((await namesIn(db)).slice(0, 2)).toEqual(["after", "first"]);
    }, 60_000);

    test("after a call without a reply, both connections are replaced", async () => {
      const db = await connectThrough(way);
      proxy.silence();
      expect(await namesIn(db)).toEqual(["first"]);
      const readAt = performance.now();
      await db.execute(insertRow("written"));
      expect(performance.now() - readAt).toBeLessThan(1000);
    }, 20_000);
  });
});
