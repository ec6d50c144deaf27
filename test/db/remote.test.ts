import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { rmSync } from "node:fs";
import { join } from "node:path";
import type { InStatement } from "@libsql/core/api";
import { sql } from "drizzle-orm";
import { type DatabaseOptions, openDatabase } from "../../src/server/db/open.ts";
import type { ServerDatabase } from "../../src/server/db/server/server-database.ts";
import type { Database } from "../../src/server/db/session.ts";
import { bindMarked, param, statement } from "../../src/server/db/statement.ts";
import { failureOf } from "../support/failure.ts";
import { hasSqld, type Sqld, startSqld } from "../support/sqld.ts";
import { createTable, insertRow } from "./fixtures.ts";
import { makeDir } from "./kinds.ts";

const selectFirst = statement(sql`SELECT name FROM things ORDER BY id LIMIT 1`);
const growOne = statement(sql`UPDATE things SET size = 1 WHERE name = ${param("name")}`);

describe.if(hasSqld)("a database server", () => {
  let dir: string;
  let server: Sqld;
  const open: Database[] = [];

  async function connect(options: Partial<DatabaseOptions>) {
    const db = await openDatabase({ dataDir: join(dir, "local"), ...options });
    open.push(db);
    return db;
  }

  async function namesIn(db: Database): Promise<unknown[]> {
    return (await db.execute("SELECT name FROM things ORDER BY name")).rows.map((row) => row.name);
  }

  beforeEach(async () => {
    dir = makeDir();
    server = await startSqld({ dir: join(dir, "server") });
  });

  afterEach(async () => {
    for (const db of open.splice(0)) await db.close().catch(() => {});
    await server.stop();
    rmSync(dir, { recursive: true, force: true });
  });

  const restart = async () => {
    const port = Number(new URL(server.url).port);
    server = await startSqld({ dir: join(dir, "server"), port });
  };

  test("that cannot be reached is 5001 for every call, and works again once it is back", async () => {
    const db = await connect({ url: server.url });
    await db.execute(createTable);
    await db.execute(insertRow("before"));
    await server.stop();
    const attempts = [
      db.execute("SELECT 1"),
      db.execute(insertRow("lost")),
      db.batch(["SELECT 1"], "read"),
      db.batch([insertRow("lost")]),
      db.transaction((tx) => tx.execute(insertRow("lost"))),
      db.migrate([createTable]),
    ];
    for (const one of await Promise.allSettled(attempts)) {
      expect(one).toMatchObject({ status: "rejected", reason: { code: 5001 } });
    }
    await restart();
    await db.transaction((tx) => tx.execute(insertRow("after")));
    expect(await namesIn(db)).toEqual(["after", "before"]);
  }, 20_000);

  test("that goes away during a transaction is 5001, and the transaction writes nothing", async () => {
    const db = await connect({ url: server.url });
    await db.execute(createTable);
    const attempt = db.transaction(async (tx) => {
      await tx.execute(insertRow("half"));
      await server.stop();
      await tx.execute(insertRow("other half"));
    });
    await expect(attempt).rejects.toMatchObject({ code: 5001 });
    await restart();
    expect(await namesIn(db)).toEqual([]);
    await db.execute(insertRow("after"));
  }, 20_000);

  test("whether its writes are durable is known, and new ones are once its mode is", async () => {
    await server.setDurability("relaxed");
    const db = (await connect({ url: server.url })) as ServerDatabase;
    expect(await db.isDurable()).toBe(false);
    await server.setDurability("strong");
    // The stream for writes was opened before.
    expect([await db.isDurable(), await db.isDurable()]).toContain(true);
    expect(await db.isDurable()).toBe(true);
  });

  test("an invalid address of any form is 5102", async () => {
    for (const url of ["ftp://example.org", "bodega.db", "file:x.db", "http://"]) {
      await expect(connect({ url })).rejects.toMatchObject({ code: 5102 });
    }
    const socket = await connect({ url: server.url.replace("http:", "ws:") });
    expect((await socket.execute("SELECT 1 AS one")).rows[0]?.one).toBe(1);
  });

  test("two processes that increment the same row lose no increment", async () => {
    const [one, two] = [await connect({ url: server.url }), await connect({ url: server.url })];
    await one.batch(["CREATE TABLE counter (n INTEGER)", "INSERT INTO counter VALUES (0)"]);
    const increment = (db: Database) =>
      db.transaction(async (tx) => {
        const { rows } = await tx.execute("SELECT n FROM counter");
        await tx.execute({ sql: "UPDATE counter SET n = ?", args: [(rows[0]?.n as number) + 1] });
      });
    await Promise.all(Array.from({ length: 30 }, (_, i) => increment(i % 2 === 0 ? one : two)));
    expect((await one.execute("SELECT n FROM counter")).rows[0]?.n).toBe(30);
  }, 20_000);

  describe("behind a proxy", () => {
    const proxies: { stop(closeActive?: boolean): Promise<void> }[] = [];
    let underWay = 0;
    let maxUnderWay = 0;
    beforeEach(() => {
      maxUnderWay = 0;
    });
    afterEach(() => Promise.all(proxies.splice(0).map((proxy) => proxy.stop(true))));

    /** Connects through a proxy that passes requests on, unless `answer` has a reply of its own for one with this body. */
    function connectThrough(
      answer: (body: string, headers: Headers) => Response | undefined | Promise<Response | undefined>,
      options: Partial<DatabaseOptions> = {},
    ) {
      const proxy = Bun.serve({
        hostname: "127.0.0.1",
        port: 0,
        async fetch(request) {
          const { method, headers } = request;
          const body = await request.text();
          const own = await answer(body, headers);
          if (own !== undefined) return own;
          maxUnderWay = Math.max(maxUnderWay, ++underWay);
          const reply = await fetch(server.url + new URL(request.url).pathname, { method, headers, body });
          const text = await reply.text();
          underWay -= 1;
          return new Response(text, { status: reply.status });
        },
      });
      proxies.push(proxy);
      return connect({ url: `http://127.0.0.1:${proxy.port}`, ...options });
    }
    function busy(body: string): Response {
      const error = { message: "database is locked", code: "SQLITE_BUSY" };
      const { requests } = JSON.parse(body) as { requests: unknown[] };
      return Response.json({ baton: null, base_url: null, results: requests.map(() => ({ type: "error", error })) });
    }

    test("a call that finds the database locked is repeated, and done once", async () => {
      let left = 0;
      const db = await connectThrough((body) => (left-- > 0 ? busy(body) : undefined));
      await db.execute(createTable);
      const calls: [name: string, call: () => Promise<unknown>][] = [
        ["execute", () => db.execute(insertRow("execute"))],
        ["batch", () => db.batch([insertRow("batch")])],
        ["transaction", () => db.transaction((tx) => tx.execute(insertRow("transaction")))],
        ["migration", () => db.migrate([insertRow("migration")])],
      ];
      for (const [, call] of calls) {
        left = 2;
        await call();
      }
      expect(await namesIn(db)).toEqual(calls.map(([name]) => name).toSorted());
    });

    test("a database that stays locked is 5001 after the deadline, and nothing is written", async () => {
      let isLocked = false;
      const db = await connectThrough((body) => (isLocked ? busy(body) : undefined), { lockDeadlineMs: 200 });
      await db.execute(createTable);
      isLocked = true;
      const attempts = [
        db.execute(insertRow("execute")),
        db.batch([insertRow("batch")]),
        db.transaction((tx) => tx.execute(insertRow("transaction"))),
      ];
      for (const one of await Promise.allSettled(attempts)) {
        expect(one).toMatchObject({ status: "rejected", reason: { code: 5001 } });
      }
      isLocked = false;
      expect(await namesIn(db)).toEqual([]);
    });

    test("an answer that is cut off is 5001 for every call", async () => {
      let isCut = false;
      const db = await connectThrough(() => (isCut ? new Response('{"baton": null, "results": [{') : undefined));
      await db.execute(createTable);
      isCut = true;
      const attempts = [
        db.execute("SELECT 1"),
        db.execute(insertRow("one")),
        db.transaction((tx) => tx.execute("SELECT 1")),
      ];
      for (const one of await Promise.allSettled(attempts)) {
        expect(one).toMatchObject({ status: "rejected", reason: { code: 5001 } });
      }
    });

    test("a server that takes a request and does not answer is 5001 after ten seconds", async () => {
      const db = await connectThrough(() => new Promise<Response>(() => {}));
      const attempts = [
        db.execute("SELECT 1"),
        db.batch([insertRow("one")]),
        db.transaction((tx) => tx.execute("SELECT 1")),
      ];
      for (const one of await Promise.allSettled(attempts)) {
        expect(one).toMatchObject({ status: "rejected", reason: { code: 5001 } });
      }
    }, 20_000);

    test("a commit that the server refuses is 5001, and nothing is written", async () => {
      let isRefused = false;
      const refuse = (body: string) => (isRefused && body.includes('"COMMIT"') ? busy(body) : undefined);
      const db = await connectThrough(refuse, { lockDeadlineMs: 200 });
      await db.execute(createTable);
      isRefused = true;
      await expect(db.transaction((tx) => tx.execute(insertRow("one")))).rejects.toMatchObject({ code: 5001 });
      expect(await namesIn(db)).toEqual([]);
    });

    test("every request carries the token", async () => {
      const seen: unknown[] = [];
      const db = await connectThrough(
        (_body, headers) => {
          seen.push(headers.get("authorization"));
          return undefined;
        },
        { authToken: "token-of-the-server" },
      );
      await db.execute(createTable);
      await db.transaction((tx) => tx.execute(insertRow("one")));
      expect(new Set(seen)).toEqual(new Set(["Bearer token-of-the-server"]));
    });

    test("a batch that writes takes the write lock at its beginning, and a batch that reads does not", async () => {
      const begins: (string | undefined)[] = [];
      const db = await connectThrough((body) => {
        begins.push(/"sql":"(BEGIN[^"]*)"/.exec(body)?.[1]);
        return undefined;
      });
      await db.batch([createTable, insertRow("one")]);
      await db.batch(["SELECT * FROM things", "SELECT 1"], "read");
      expect(begins).toEqual(["BEGIN IMMEDIATE", "BEGIN TRANSACTION READONLY"]);
    });

    /** Connects through a proxy, and returns what each of its exchanges with the server asked for. */
    async function countExchanges() {
      const bodies: string[] = [];
      const db = await connectThrough((body) => {
        bodies.push(body);
        return undefined;
      });
      await db.batch([createTable, insertRow("first")]);
      await db.execute("SELECT 1");
      return { db, bodies, exchanges: bodies.splice(0) };
    }

    test("the reads of one turn share an exchange, and one that fails leaves the others alone", async () => {
      const { db, bodies } = await countExchanges();
      const reads = Array.from({ length: 20 }, (_, i) => db.execute({ sql: "SELECT ? AS n", args: [i] }));
      const wrong = db.execute("SELECT * FROM missing");
      expect(await wrong.catch((error: Error) => error.message)).toInclude("no such table");
      expect((await Promise.all(reads)).map(({ rows }) => rows[0]?.n)).toEqual(Array.from({ length: 20 }, (_, i) => i));
      expect(bodies).toHaveLength(1);
      const unreadable = db.execute("SELECT FROM WHERE");
      const [first, second] = await Promise.allSettled([db.execute("SELECT 1 AS n"), unreadable]);
      expect([first.status, second.status]).toEqual(["fulfilled", "rejected"]);
    });

    test("reads answered together share their next exchange, too, if not all come back in one turn", async () => {
      const { db, bodies } = await countExchanges();
      const readTwice = async (turns: number) => {
        await db.execute("SELECT 1");
        for (let turn = 0; turn < turns; turn++) await new Promise((resolve) => setImmediate(resolve));
        await db.execute("SELECT 2");
      };
      // They wait for each other for a moment only, which a busy machine may exceed.
      const counts = new Set<number>();
      for (let round = 0; round < 20; round++) {
        await Promise.all([0, 1, 2].map(readTwice));
        counts.add(bodies.splice(0).length);
      }
      expect(counts).toContain(2);
    });

    test("equal reads of one turn are one statement, and each gets its own rows", async () => {
      const { db, bodies } = await countExchanges();
      const names = ["it's", 'say "ä"', "no\nline", "twin"];
      await db.batch(names.map(insertRow));
      const select = "SELECT upper(?) AS asked, name, size FROM things WHERE name >= ? AND ? IS NULL";
      const asked = ["zzz", ...names, "first"].map((name) => ({ sql: select, args: [name, name, null] }));
      const alone: unknown[] = [];
      for (const stmt of asked) alone.push((await db.execute(stmt)).rows);
      bodies.splice(0);
      const together = await Promise.all(asked.map((stmt) => db.execute(stmt)));
      expect(together.map(({ rows }) => rows) as unknown[]).toEqual(alone);
      expect(together.map(({ rows }) => rows.length)).toEqual([0, 4, 2, 3, 1, 5]);
      expect(Object.values(together[4]?.rows[0] ?? {})).toEqual(["TWIN", "twin", null]);
      expect(bodies.map((body) => body.split("things WHERE name").length - 1)).toEqual([1]);
    });

    test.each([
      "SELECT count(*) AS n FROM things WHERE name >= ?",
      "SELECT DISTINCT 1 AS n FROM things WHERE name >= ?",
      "SELECT 1 AS n FROM things WHERE name >= ? LIMIT 1",
      "SELECT 1 AS n FROM things WHERE name >= ? GROUP BY name",
      "SELECT 1 AS n FROM things WHERE name >= ? UNION SELECT 1 AS n",
      "SELECT 1 AS n, (SELECT max(id) FROM things WHERE name >= ?) AS newest",
      "SELECT row_number() OVER () AS n FROM things WHERE name >= ?",
    ])("equal reads whose rows depend on each other are one only with equal arguments: %s", async (sql) => {
      const { db, bodies } = await countExchanges();
      await db.batch(["one", "two"].map(insertRow));
      const names = ["one", "zzz", "one"];
      const alone: unknown[] = [];
      for (const name of names) alone.push((await db.execute({ sql, args: [name] })).rows);
      bodies.splice(0);
      const together = await Promise.all(names.map((name) => db.execute({ sql, args: [name] })));
      expect(together.map(({ rows }) => rows) as unknown[]).toEqual(alone);
      expect(bodies.map((body) => body.split(JSON.stringify(sql)).length - 1)).toEqual([2]);
    });

    test("an answer that is too large for a shared exchange is fetched alone", async () => {
      const { db } = await countExchanges();
      const large = () => db.execute("SELECT hex(zeroblob(2000000)) AS text");
      const lengths = (await Promise.all([large(), large(), large()])).map(({ rows }) => String(rows[0]?.text).length);
      expect(lengths).toEqual([4_000_000, 4_000_000, 4_000_000]);
    });

    test("writes that wait share one commit, and each succeeds or fails alone", async () => {
      const { db, bodies } = await countExchanges();
      const writes = Array.from({ length: 20 }, (_, i) => db.execute(insertRow(`write ${i}`)));
      const wrong = db.batch([insertRow("half"), "INSERT INTO missing VALUES (1)"]);
      const transactions = Array.from({ length: 10 }, (_, i) =>
        db.transaction(async (tx) => {
          await tx.execute(insertRow(`transaction ${i}`));
          if (i === 5) throw new Error("changed its mind");
        }),
      );
      const outcomes = await Promise.allSettled([...writes, wrong, ...transactions]);
      expect(outcomes.filter(({ status }) => status === "rejected")).toHaveLength(2);
      expect(await namesIn(db)).toHaveLength(1 + 20 + 9);
      expect(await namesIn(db)).not.toContain("half");
      // One for the writes, one to learn what the transactions would do, one to commit them, and the last two reads.
      expect(bodies.length).toBeLessThanOrEqual(5);
      expect(maxUnderWay).toBe(1);
    });

    test("no transaction stays open between exchanges, so one that is cut off holds nobody up", async () => {
      const { db } = await countExchanges();
      const other = await connect({ url: server.url, lockDeadlineMs: 100 });
      const finish = Promise.withResolvers<void>();
      const halted = db.transaction(async (tx) => {
        await tx.execute(insertRow("halted"));
        await other.execute(insertRow("other"));
        expect(await namesIn(other)).toEqual(["first", "other"]);
        finish.resolve();
        await tx.execute(insertRow("halted too"));
      });
      await finish.promise;
      await halted;
      expect(await namesIn(other)).toEqual(["first", "halted", "halted too", "other"]);
    });

    test("a statement that a transaction adds while another is under way gets its own result", async () => {
      const arrived = Promise.withResolvers<void>();
      const added = Promise.withResolvers<undefined>();
      const db = await connectThrough((body) => {
        if (!body.includes("'first'")) return undefined;
        arrived.resolve();
        return added.promise;
      });
      await db.execute(createTable);
      await db.transaction(async (tx) => {
        const first = tx.execute("SELECT 'first' AS text");
        await arrived.promise;
        const second = tx.execute("SELECT 'second' AS text");
        const neighbour = db.execute(insertRow("neighbour"));
        added.resolve(undefined);
        expect((await Promise.all([first, second])).map(({ rows }) => rows[0]?.text)).toEqual(["first", "second"]);
        await neighbour;
      });
    });

    // The reads of a transaction, and how another process changes it meanwhile.
    const changes: [seen: string, see: string, change: string][] = [
      ["a row", "SELECT name FROM things WHERE name = 'first'", "DELETE FROM things WHERE name = 'first'"],
      [
        "that there is no row",
        "SELECT name FROM things WHERE name = 'new'",
        "INSERT INTO things (name) VALUES ('new')",
      ],
      ["the order of rows", "SELECT name, 1 FROM things ORDER BY name", "INSERT INTO things (name) VALUES ('a')"],
      [
        "a blob and a quote",
        "SELECT x'00ff', 'it''s', max(name) FROM things",
        "INSERT INTO things (name) VALUES ('z')",
      ],
      ["how many rows it changed", "UPDATE things SET name = name", "INSERT INTO things (name) VALUES ('more')"],
      [
        "the values that it returned",
        "UPDATE things SET name = name WHERE name = 'first' RETURNING (SELECT count(*) FROM things) AS n, 'a, b' AS ab",
        "INSERT INTO things (name) VALUES ('counted')",
      ],
    ];
    for (const [seen, see, change] of changes) {
      test(`a transaction that has seen ${seen} begins again when that changes before its commit`, async () => {
        const { db } = await countExchanges();
        const other = await connect({ url: server.url });
        let tries = 0;
        await db.transaction(async (tx) => {
          tries++;
          await tx.execute(see);
          if (tries === 1) await other.execute(change);
          await tx.execute(insertRow(`try ${tries}`));
        });
        expect(tries).toBe(2);
        expect((await namesIn(db)).filter((name) => String(name).startsWith("try"))).toEqual(["try 2"]);
      });
    }

    test("the reads with which transactions begin share an exchange, and run once if a later write checks them", async () => {
      const { db, bodies } = await countExchanges();
      const grow = (name: string) =>
        db.transaction(async (tx) => {
          await tx.batch([bindMarked(selectFirst, {}, { isGuarded: true })]);
          const change = bindMarked(growOne, { name: "first" }, { mustChange: 1 });
          const results = await tx.batch([change, insertRow(name)], "last");
          expect(results.map(({ rowsAffected }) => rowsAffected)).toEqual([1, 1]);
        });
      await Promise.all(["one", "two", "three"].map(grow));
      expect(bodies.map((body) => body.includes(selectFirst.sql))).toEqual([true, false]);
      expect(await namesIn(db)).toEqual(["first", "one", "three", "two"]);
    });

    test("a transaction whose last write does not change the row that it must begins again, alone", async () => {
      const { db } = await countExchanges();
      const other = await connect({ url: server.url });
      const seen: unknown[] = [];
      const moved = db.transaction(async (tx) => {
        const [read] = await tx.batch([bindMarked(selectFirst, {}, { isGuarded: true })]);
        seen.push(read?.rows[0]?.name);
        if (seen.length === 1) await other.execute("UPDATE things SET name = 'another' WHERE name = 'first'");
        const change = bindMarked(growOne, { name: seen.at(-1) }, { mustChange: 1 });
        return tx.batch([insertRow(`try ${seen.length}`), change], "last");
      });
      await Promise.all([moved, db.execute(insertRow("neighbour"))]);
      expect(seen).toEqual(["first", "another"]);
      expect(await namesIn(db)).toEqual(["another", "neighbour", "try 2"]);
    });

    describe("rows of a chain, each made of the one before", () => {
      const last = "SELECT name AS last FROM things ORDER BY id DESC LIMIT 1";
      /** A statement that adds a row named after the newest one. */
      const addLink = (mark: string): InStatement => {
        const follow = (last: string | null) => ({ args: [`${last}${mark}`, last], last: `${last}${mark}` });
        const sql = `INSERT INTO things (name) SELECT ? WHERE (${last}) IS ?`;
        return Object.assign({ sql }, { mustChange: 1, chain: { select: last, follow } });
      };
      const chained = async (db: Database) => (await namesIn(db)).map(String).toSorted((a, b) => a.length - b.length);

      test("are written in one exchange by units that succeed or fail alone, also behind one that failed", async () => {
        const { db, bodies } = await countExchanges();
        const append = (...stmts: InStatement[]) => db.transaction((tx) => tx.batch(stmts, "last"));
        await append(addLink("0"));
        bodies.splice(0);
        await Promise.all(["1", "2"].map((mark) => append(addLink(mark))));
        expect(bodies.length).toBe(1);
        const wrong = append(addLink("x"), insertRow("first"));
        expect(await failureOf(wrong)).toBeInstanceOf(Error);
        const outcomes = [append(addLink("x"), insertRow("first")), append(addLink("3")), append(addLink("4"))];
        expect((await Promise.allSettled(outcomes)).map(({ status }) => status)).toEqual([
          "rejected",
          "fulfilled",
          "fulfilled",
        ]);
        expect(await chained(db)).toEqual(["first", "first0", "first01", "first012", "first0123", "first01234"]);
      });

      test("follow those that other programs write meanwhile, without running the transaction again", async () => {
        const { db } = await countExchanges();
        const other = await connect({ url: server.url });
        let tries = 0;
        const append = (db: Database, mark: string) =>
          db.transaction((tx) => {
            tries++;
            return tx.batch([addLink(mark)], "last");
          });
        for (const mark of ["0", "2", "4"]) {
          await append(db, mark);
          await append(other, String(Number(mark) + 1));
        }
        await Promise.all(["6", "6", "6"].flatMap((mark) => [append(db, mark), append(other, mark)]));
        expect(tries).toBe(12);
        const names = await chained(db);
        expect(names.at(-1)).toBe("first012345666666");
        expect(names.length).toBe(13);
      });

      test("are made anew by transactions that go on behind them, which do not conflict over them", async () => {
        const { db } = await countExchanges();
        let tries = 0;
        const write = (mark: string) =>
          db.transaction(async (tx) => {
            tries++;
            await tx.execute(addLink(mark));
            if (mark === "u") throw new Error("changed its mind");
            await tx.execute("UPDATE things SET size = 1 WHERE name = 'first'");
          });
        await Promise.all(["1", "2", "3"].map(write));
        expect(tries).toBe(3);
        await Promise.allSettled(["u", "4"].map(write));
        expect(await chained(db)).toEqual(["first", "first1", "first12", "first123", "first1234"]);
      });
    });

    test("transactions that all change one row hold up neither others nor each other for ever", async () => {
      const { db, bodies } = await countExchanges();
      await db.batch(["CREATE TABLE counter (n INTEGER)", "INSERT INTO counter VALUES (0)"]);
      const increments = Array.from({ length: 60 }, () =>
        db.transaction(async (tx) => {
          const { rows } = await tx.execute("SELECT n FROM counter");
          await tx.execute({ sql: "UPDATE counter SET n = ?", args: [Number(rows[0]?.n) + 1] });
        }),
      );
      while (bodies.length < 30) await Bun.sleep(1);
      const before = bodies.length;
      await db.transaction((tx) => tx.execute(insertRow("another")));
      expect(bodies.length - before).toBeLessThan(6);
      await Promise.all(increments);
      expect((await db.execute("SELECT n FROM counter")).rows[0]?.n).toBe(60);
    });

    test("a refusal that follows from what others did not commit is not given", async () => {
      const { db } = await countExchanges();
      const take = async (name: string, fails: boolean) =>
        db.transaction(async (tx) => {
          const { rowsAffected } = await tx.execute(`UPDATE things SET name = '${name}' WHERE name = 'first'`);
          if (rowsAffected === 0) throw new Error("is taken");
          if (fails) throw new Error("gives it back");
        });
      const [one, two] = await Promise.allSettled([take("one", true), take("two", false)]);
      expect(one).toMatchObject({ reason: { message: "gives it back" } });
      expect(two.status).toBe("fulfilled");
      expect(await namesIn(db)).toEqual(["two"]);
    });
  });
});
