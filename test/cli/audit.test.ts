import { beforeAll, describe, expect, test } from "bun:test";
import { join } from "node:path";
import { accountName } from "../../src/cli/context/context.ts";
import { openDatabase } from "../../src/server/db/open.ts";
import { makeDir, openCli } from "./run-bodega.ts";
import { runHere } from "./run-here.ts";

interface Row {
  seq: number;
  at: string;
  event: string;
  request_id: string;
}
interface Verdict {
  intact: boolean;
  rows: number;
  last: { seq: number; hash: string };
}

const cli = openCli();
const { json, failure, here: run } = cli;
const timestamp = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
const list = async (...flags: string[]) => (await json<Row[]>("audit", "list", ...flags)).map(({ event }) => event);
let appId = "";

beforeAll(async () => {
  await json("tenant", "create", "demo");
  await json("tenant", "create", "other");
  appId = (await json<{ app_id: string }>("key", "issue", "-n", "demo", "--name", "web")).app_id;
  await json("key", "publish", appId);
});

/** Changes the database in a way in which the program itself never changes it. */
async function tamper(dataDir: string, ...statements: string[]): Promise<void> {
  const db = await openDatabase({ dataDir });
  for (const trigger of ["audit_log_unchanged", "audit_log_kept"]) await db.execute(`drop trigger ${trigger}`);
  for (const statement of statements) await db.execute(statement);
  await db.close();
}

describe("bodega audit list", () => {
  test("bodega audit list lists events, newest first, and the JSON is exactly the documented record", async () => {
    expect(await list()).toEqual([
      ..."key.published key.issued tenant.created tenant.created database.migrated".split(" "),
    ]);
    const [row] = await json<Row[]>("audit", "list", "--limit", "1");
    const record = {
      seq: 5,
      at: timestamp,
      event: "key.published",
      namespace: "demo",
      actor_kind: "terminal",
      actor_id: accountName(),
      subject: appId,
      address: null,
      request_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      code: null,
      details: null,
      hash: expect.stringMatching(/^[0-9a-f]{64}$/),
      actor_email: null,
      subject_email: null,
    };
    expect(row).toEqual(record as unknown as Row);
    expect(Object.keys(row as Row)).toEqual(Object.keys(record));
  });

  test("bodega audit list shows complete ids of users at 100 columns, with the email of a user who exists", async () => {
    const email = "ada-lovelace@mugs.example.com";
    const own = openCli();
    await own.json("tenant", "create", "mugs");
    const { user_id } = await own.json<{ user_id: string }>("user", "create", "--email", email, "--no-password");
    const line = ["audit", "list", "--subject", user_id];
    const show = async () => (await runHere(line, { env: own.environment(), columns: 100 })).stdout;
    expect(await show()).toContain(`${user_id} (${email})`);
    const events = await own.json<Row[]>("audit", "list", "-n", "mugs", "--subject", email.toUpperCase());
    expect(events).toMatchObject([{ event: "user.created" }]);
    await own.json("user", "delete", user_id, "--confirm", email);
    expect(await show()).toContain(user_id);
    expect(await show()).not.toContain(email);
  });

  test("bodega audit list filters rows, and pages by number", async () => {
    expect(await list("-n", "other")).toEqual(["tenant.created"]);
    expect(await list("--event", "key.*")).toEqual(["key.published", "key.issued"]);
    expect(await list("--event", "key.issued", "--subject", appId)).toEqual(["key.issued"]);
    expect(await list("--actor", accountName(), "--actor-kind", "terminal", "--limit", "1")).toEqual(["key.published"]);
    for (const none of [["--failures"], ["--address", "192.0.2.1"]]) expect(await list(...none)).toEqual([]);
    expect(await list("--since", "1h", "--before", "3")).toEqual(["tenant.created", "database.migrated"]);
    expect(await list("--until", "1h")).toEqual([]);
  });

  test("bodega audit list is a table for people, with the command for the next page", async () => {
    const { stdout, stderr } = await run(["audit", "list", "--limit", "2"]);
    expect(stdout).toMatch(/^SEQ +TIME +EVENT +NAMESPACE +ACTOR +SUBJECT +ADDRESS +CODE\n5 /);
    expect(stdout).toContain(`terminal ${accountName()}`);
    expect(stderr).toContain("--before 4");
    expect((await run(["audit", "list", "-q", "--limit", "2"])).stdout).toBe("5\n4\n");
  });

  test.concurrent.each([
    [["--limit", "0"], "--limit"],
    [["--before=x"], "--before"],
    [["--event", "logins.*"], "--event"],
    [["--since", "yesterday"], "--since"],
    [["--actor-kind", "god"], "--actor-kind"],
  ])("bodega audit list with %j ends with exit code 2 and names the flag", async (flags, flag) => {
    const { code, error } = await failure("audit", "list", ...flags);
    expect(code).toBe(2);
    expect(error.message).toStartWith(`${flag} `);
  });
});

describe("bodega audit verify", () => {
  test("bodega audit verify ends with exit code 0 for an unchanged log, and --expect accepts the head of this log", async () => {
    const verdict = await json<Verdict>("audit", "verify");
    expect(verdict).toMatchObject({ intact: true, first: { seq: 1 } } as unknown as Verdict);
    expect(verdict.rows).toBe(verdict.last.seq);
    const head = `${verdict.last.seq}:${verdict.last.hash}`;
    const { code, stdout } = await run(["audit", "verify", "--expect", head]);
    expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringContaining(head) });
    expect((await run(["audit", "verify", "-q"])).stdout).toBe(`${head}\n`);
    expect(await failure("audit", "verify", "--expect", "5")).toMatchObject({ code: 2 });
  });

  test.each([
    ["a changed row", ["update audit_log set actor_id = 'nobody' where seq = 2"], { broken_at: 2 }],
    ["the loss of the table", ["drop table audit_log"], { problem: "The table audit_log is missing." }],
  ])("bodega audit verify ends with exit code 1 after %s, and names the entry", async (_what, statements, expected) => {
    const one = openCli(join(makeDir(), "data"));
    await one.json("tenant", "create", "demo");
    await tamper(one.dataDir, ...statements);
    const { code, stdout, stderr } = await one.here(["audit", "verify", "--json"]);
    const verdict = JSON.parse(stdout);
    expect({ code, stderr, ...verdict }).toMatchObject({ code: 1, stderr: "", intact: false, ...expected });
    const shown = await one.here(["audit", "verify"]);
    expect(shown.code).toBe(1);
    expect(shown.stdout).toMatch(/Intact +no/);
    expect(shown.stdout).toContain(verdict.problem);
  });
});

test("the audit log names the account of the process as the actor, not a name in the environment", async () => {
  const one = openCli();
  const env = { USER: "mallory", LOGNAME: "mallory", SUDO_USER: "mallory" };
  await one.run(["tenant", "create", "demo"], { env });
  const [row] = await one.json<{ event: string; actor_id: string }[]>("audit", "list", "--limit", "1");
  expect(row).toMatchObject({ event: "tenant.created", actor_id: accountName() });
  expect(accountName()).not.toBe("mallory");
  expect(accountName("/no/such/file")).toBe(`uid ${process.getuid?.()}`);
});

test("the audit log names the migrations that a command applies", async () => {
  const one = openCli();
  const { applied } = await one.json<{ applied: string[] }>("db", "migrate");
  await one.json("db", "migrate");
  expect(await one.json<unknown[]>("audit", "list")).toMatchObject([
    { event: "database.migrated", details: { applied } },
  ]);
});
