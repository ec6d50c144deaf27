import { beforeAll, describe, expect, test } from "bun:test";
import type { SystemCtx } from "../../src/server/context.ts";
import { inTransaction } from "../../src/server/db/transaction.ts";
import { recordAudit } from "../../src/server/modules/audit/service.ts";
import { type AuditVerdict, verifyAudit } from "../../src/server/modules/audit/verify.ts";
import type { TestApp } from "../support/app.ts";
import { failureOf } from "../support/failure.ts";
import { onDatabase, onEachDatabase } from "../support/suite.ts";

const rows = 5;

class Undone extends Error {}

const triggers = ["audit_log_unchanged", "audit_log_kept"];

/** Changes the log without its triggers, verifies it, and returns the result. The changes are rolled back. */
async function verifyAfter(ctx: SystemCtx, statements: string[], head?: string): Promise<AuditVerdict> {
  let verdict: AuditVerdict | undefined;
  const work = inTransaction(ctx, async (tx) => {
    const { rows: made } = await tx.db.execute(
      "select sql from sqlite_schema where type = 'trigger' and tbl_name = 'audit_log'",
    );
    for (const trigger of triggers) await tx.db.execute(`drop trigger ${trigger}`);
    for (const statement of statements) await tx.db.execute(statement);
    for (const { sql } of made) await tx.db.execute(String(sql));
    verdict = await verifyAudit(tx, head === undefined ? {} : { expect: head });
    throw new Undone();
  });
  expect(await failureOf(work)).toBeInstanceOf(Undone);
  return verdict as AuditVerdict;
}

/** Writes the audit rows that the tests expect. */
async function recordRows({ clock, system }: TestApp): Promise<SystemCtx> {
  for (let n = 1; n <= rows; n++) {
    clock.advance(1000);
    await recordAudit(system, { event: "login.failed", namespace: "demo", error: "invalidLogin", details: { n } });
  }
  return system;
}

onEachDatabase((suite) => {
  const { onFile } = suite;
  let ctx: SystemCtx;
  beforeAll(async () => {
    ctx = await recordRows(suite.app);
  });

  const headNow = async () => {
    const { last } = await verifyAudit(ctx);
    return `${last?.seq}:${last?.hash}`;
  };

  test("the check of an unchanged audit log returns that it is intact, and its head", async () => {
    const { last, first, ...verdict } = await verifyAudit(ctx);
    expect(verdict).toEqual({ intact: true, rows });
    expect(first?.seq).toBe(1);
    expect(last).toEqual({
      seq: rows,
      at: new Date(ctx.now()).toISOString(),
      hash: expect.stringMatching(/^[0-9a-f]{64}$/),
    });
    expect(await verifyAudit(ctx, { expect: await headNow() })).toMatchObject({ intact: true });
  });

  onFile("the database refuses to change or delete a row of the audit log", async () => {
    for (const statement of ["update audit_log set code = null", "delete from audit_log where seq = 1"]) {
      expect(String(await failureOf(ctx.db.execute(statement)))).toContain("append-only");
    }
    expect(await verifyAudit(ctx)).toMatchObject({ intact: true, rows });
  });

  describe("a changed audit log", () => {
    const columns: [column: string, value: string][] = [
      ["at", "'2001-01-01T00:00:00.000Z'"],
      ["event", "'login.succeeded'"],
      ["namespace", "'other'"],
      ["namespace", "null"],
      ["actor_kind", "'app'"],
      ["actor_id", "'somebody'"],
      ["subject", "'usr_x'"],
      ["address", "'192.0.2.1'"],
      ["request_id", "'another'"],
      ["code", "null"],
      ["code", "5213"],
      ["details", "'{}'"],
      ["hash", "lower(hex(randomblob(32)))"],
    ];
    onFile("verifying finds a change in any column that the hash covers", async () => {
      for (const [column, value] of columns) {
        const verdict = await verifyAfter(ctx, [`update audit_log set ${column} = ${value} where seq = 3`]);
        expect([column, verdict]).toEqual([
          column,
          expect.objectContaining({ intact: false, rows: 2, broken_at: 3, problem: expect.stringMatching(/\S/) }),
        ]);
      }
    });

    const others: [what: string, statement: string, place: number][] = [
      ["the first row removed", "delete from audit_log where seq = 1", 1],
      ["a row in the middle removed", "delete from audit_log where seq = 3", 3],
      ["two rows exchanged", "update audit_log set seq = case seq when 2 then -3 else -2 end where seq in (2, 3)", 2],
      ["the last row removed", `delete from audit_log where seq = ${rows}`, rows],
      ["the last row given another number", `update audit_log set seq = ${rows + 2} where seq = ${rows}`, rows],
      ["all rows removed", "delete from audit_log", 1],
      [
        "a row added without its place in the chain",
        `insert into audit_log (at, event, actor_kind, request_id, hash) values ('x', 'login.failed', 'app', 'r', 'h')`,
        rows + 1,
      ],
    ];
    onFile.each(others)("%s", async (_what, statement, place) => {
      const verdict = await verifyAfter(ctx, [statement, "update audit_log set seq = -seq where seq < 0"]);
      expect(verdict).toMatchObject({ intact: false, rows: place - 1, broken_at: place });
    });

    onFile("--expect with an earlier head finds a truncated audit log, even if its counter was reset", async () => {
      const cut = [
        "delete from audit_log where seq > 3",
        "update sqlite_sequence set seq = 3 where name = 'audit_log'",
      ];
      expect(await verifyAfter(ctx, cut)).toMatchObject({ intact: true, rows: 3 });
      expect(await verifyAfter(ctx, cut, await headNow())).toMatchObject({ intact: false, rows: 3, broken_at: 4 });
    });
  });

  describe("changed triggers are found", () => {
    const problem = "The triggers that keep rows unchanged are missing.";
    const otherwise = (event: string, body: string) => `before ${event} on audit_log begin select ${body}; end`;
    const acts: [what: string, statements: string[]][] = [
      ["both removed", ["drop trigger audit_log_unchanged", "drop trigger audit_log_kept"]],
      [
        "a trigger replaced by one that does nothing",
        ["drop trigger audit_log_kept", `create trigger audit_log_kept ${otherwise("delete", "1")}`],
      ],
      [
        "a trigger replaced by one for fewer rows",
        [
          "drop trigger audit_log_unchanged",
          `create trigger audit_log_unchanged before update on audit_log when old.seq > 3
            begin select raise(abort, 'the audit log is append-only'); end`,
        ],
      ],
    ];
    onFile.each(acts)("%s", async (_what, statements) => {
      const work = inTransaction(ctx, async (tx) => {
        for (const statement of statements) await tx.db.execute(statement);
        expect(await verifyAudit(tx)).toMatchObject({ intact: false, rows, last: { seq: rows }, problem });
        throw new Undone();
      });
      expect(await failureOf(work)).toBeInstanceOf(Undone);
      expect(await verifyAudit(ctx)).toMatchObject({ intact: true });
    });
  });

  onFile("verifying reports a missing table", async () => {
    for (const instead of [[], ["create view audit_log as select 1 as seq"]]) {
      const work = inTransaction(ctx, async (tx) => {
        for (const statement of ["drop table audit_log", ...instead]) await tx.db.execute(statement);
        const problem = "The table audit_log is missing.";
        expect(await verifyAudit(tx)).toEqual({ intact: false, rows: 0, first: null, last: null, problem });
        throw new Undone();
      });
      expect(await failureOf(work)).toBeInstanceOf(Undone);
    }
  });

  onFile("the head of another log is refused", async () => {
    const verdict = await verifyAudit(ctx, { expect: `2:${"0".repeat(64)}` });
    expect(verdict).toMatchObject({ intact: false, broken_at: 2 });
    for (const head of ["", "2", `0:${"0".repeat(64)}`, `2:${"0".repeat(63)}`, `2:${"g".repeat(64)}`]) {
      expect(await failureOf(verifyAudit(ctx, { expect: head }))).toMatchObject({ details: [{ field: "expect" }] });
    }
  });
});

// Uses a separate database, because these tests add rows that cannot be removed.
onDatabase("file", (suite) => {
  let ctx: SystemCtx;
  beforeAll(async () => {
    ctx = await recordRows(suite.app);
  });

  test("a failed change leaves no row and no gap in the audit log, and concurrent rows form one chain", async () => {
    const elsewhere: SystemCtx = { ...ctx, db: await suite.database.openAgain() };
    const { rows: before } = await verifyAudit(ctx);
    const work = Array.from({ length: 30 }, (_, n) =>
      inTransaction(n % 2 ? ctx : elsewhere, async (tx) => {
        await recordAudit(tx, { event: "login.succeeded", subject: `usr_${n}` });
        if (n % 3 === 0) throw new Undone();
      }).catch((error) => {
        if (!(error instanceof Undone)) throw error;
      }),
    );
    await Promise.all(work);
    const { last: _last, ...verdict } = await verifyAudit(ctx);
    expect(verdict).toMatchObject({ intact: true, rows: before + 20 });
  });

  test("an audit log of several pages is verified to its end", async () => {
    const { rows: before } = await verifyAudit(ctx);
    await inTransaction(ctx, async (tx) => {
      for (let n = before; n < 1002; n++) await recordAudit(tx, { event: "token.refreshed" });
    });
    expect(await verifyAudit(ctx)).toMatchObject({ intact: true, rows: 1002 });
    const verdict = await verifyAfter(ctx, ["update audit_log set subject = 'x' where seq = 1001"]);
    expect(verdict).toMatchObject({ intact: false, broken_at: 1001 });
  });
});
