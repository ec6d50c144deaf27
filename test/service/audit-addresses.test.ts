import { expect, test } from "bun:test";
import { inTransaction } from "../../src/server/db/transaction.ts";
import { eraseOldAddresses, recordAudit } from "../../src/server/modules/audit/service.ts";
import { verifyAudit } from "../../src/server/modules/audit/verify.ts";
import { failureOf } from "../support/failure.ts";
import { onDatabase } from "../support/suite.ts";

const day = 86_400_000;

onDatabase("file", (suite) => {
  const execute = (sql: string) => suite.app.db.execute(sql);

  test("addresses are erased after the given time, to the millisecond, and the chain stays intact", async () => {
    const ctx = { ...suite.app.system, client: { ip: "192.0.2.7" } };
    const count = async () => Number((await execute("select count(address) as n from audit_log")).rows[0]?.n);
    const before = await count();
    for (let n = 0; n < 3; n++) {
      await recordAudit(ctx, { event: "login.failed", namespace: "demo" });
      suite.app.clock.advance(day);
    }
    const head = await verifyAudit(ctx);
    expect(head).toMatchObject({ intact: true });
    const erase = (keptMs: number) => eraseOldAddresses({ db: suite.app.db, now: suite.app.clock.now }, keptMs);
    expect(await erase(3 * day + 1)).toBe(before);
    expect(await erase(3 * day)).toBe(1);
    expect(await count()).toBe(2);
    expect(await erase(day)).toBe(2);
    const { rows } = await execute(
      "select address, address_salt, address_hash from audit_log order by seq desc limit 1",
    );
    expect(rows[0]).toMatchObject({
      address: null,
      address_salt: null,
      address_hash: expect.stringMatching(/^[0-9a-f]{64}$/),
    });
    expect(await verifyAudit(ctx)).toEqual(head);
  });

  test("an address can be erased, and neither changed nor added", async () => {
    await recordAudit({ ...suite.app.system, client: { ip: "192.0.2.8" } }, { event: "login.failed" });
    for (const change of [
      "address = '192.0.2.9'",
      "address = null, address_salt = address_salt",
      "address = null, address_salt = null, code = 1",
      "address = null, address_salt = null, address_hash = null",
    ]) {
      expect(String(await failureOf(execute(`update audit_log set ${change}`)))).toContain("append-only");
    }
  });

  test("rows of one commit are linked in their order, whether one act wrote them or several", async () => {
    const { system } = suite.app;
    await inTransaction(system, async (tx) => {
      for (let n = 0; n < 3; n++) await recordAudit(tx, { event: "login.failed" });
    });
    await Promise.all([1, 2, 3].map(() => recordAudit(system, { event: "login.failed" })));
    const { rows } = await execute("select count(*) as n, count(distinct hash) as hashes from audit_log");
    expect(rows[0]?.hashes).toBe(rows[0]?.n as number);
    expect((await verifyAudit(system)).intact).toBe(true);
  });
});
