import { beforeAll, expect, test } from "bun:test";
import type { SystemCtx } from "../../src/server/context.ts";
import { type AuditFilter, listAudit } from "../../src/server/modules/audit/list.ts";
import { recordAudit } from "../../src/server/modules/audit/service.ts";
import { onDatabase } from "../support/suite.ts";

onDatabase("file", (suite) => {
  let ctx: SystemCtx;
  let start: number;
  const at = (seconds: number) => new Date(start + seconds * 1000).toISOString();

  beforeAll(async () => {
    ctx = suite.app.system;
    start = ctx.now();
    const visitor: SystemCtx = {
      ...ctx,
      actor: { kind: "visitor" },
      client: { ip: "192.0.2.1" },
      requestId: "req-visitor",
    };
    const app: SystemCtx = {
      ...ctx,
      actor: { kind: "app", appId: "app_1", scopes: new Set() },
      client: { ip: "192.0.2.2" },
    };
    const user: SystemCtx = { ...visitor, actor: { kind: "user", userId: "usr_1", role: "customer" } };
    const terminal: SystemCtx = { ...ctx, actor: { kind: "terminal", account: "ana" } };
    const acts: [SystemCtx, Parameters<typeof recordAudit>[1]][] = [
      [
        visitor,
        { event: "login.failed", namespace: "one", error: "invalidLogin", details: { email: "nobody@example.com" } },
      ],
      [visitor, { event: "login.succeeded", namespace: "one", subject: "usr_1" }],
      [user, { event: "password.changed", namespace: "one", subject: "usr_1" }],
      [app, { event: "user.created", namespace: "two", subject: "usr_2" }],
      [terminal, { event: "key.published", namespace: "two", subject: "app_1" }],
      [terminal, { event: "database.rekeyed" }],
    ];
    for (const [who, entry] of acts) {
      await recordAudit(who, entry);
      suite.app.clock.advance(1000);
    }
  });

  const lists: [filter: AuditFilter, found: number[]][] = [
    [{}, [6, 5, 4, 3, 2, 1]],
    [{ limit: 2 }, [6, 5]],
    [{ limit: 2, before: 5 }, [4, 3]],
    [{ namespace: "one" }, [3, 2, 1]],
    [{ namespace: "ONE" }, []],
    [{ event: "login.failed" }, [1]],
    [{ event: "login.*" }, [2, 1]],
    [{ event: "log*", namespace: "one", failures: true }, [1]],
    [{ event: "*" }, [6, 5, 4, 3, 2, 1]],
    [{ actor: "app_1" }, [4]],
    [{ actor: "usr_1" }, [3]],
    [{ actor: "ana" }, [6, 5]],
    [{ actorKind: "visitor" }, [2, 1]],
    [{ subject: "usr_1" }, [3, 2]],
    // Row 3 has no IP address, because its user no longer exists.
    [{ address: "192.0.2.1", subject: "usr_1" }, [2]],
    [{ failures: true }, [1]],
    [{ failures: false }, [6, 5, 4, 3, 2, 1]],
  ];
  test.each(lists)("%j finds matching rows, newest first", async (filter, found) => {
    expect((await listAudit(ctx, filter)).map(({ seq }) => seq)).toEqual(found);
  });

  test("a time range of the audit log includes its beginning and excludes its end", async () => {
    const seqs = async (filter: AuditFilter) => (await listAudit(ctx, filter)).map(({ seq }) => seq);
    expect(await seqs({ since: at(1), until: at(3) })).toEqual([3, 2]);
    expect(await seqs({ since: at(5) })).toEqual([6]);
    expect(await seqs({ until: at(0) })).toEqual([]);
  });
});
