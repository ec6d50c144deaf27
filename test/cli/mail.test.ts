import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { openStoreDatabase } from "../../src/server/admin/open-database.ts";
import { migrate } from "../../src/server/db/migrate.ts";
import { sealContents } from "../../src/server/modules/mail/outbox.ts";
import { openVault } from "../../src/server/security/secret-key.ts";
import { certificate } from "../support/certificate.ts";
import { type SmtpServerUnderTest, startSmtpServer } from "../support/smtp.ts";
import { makeDir, openCli } from "./run-bodega.ts";

const { dataDir, json, failure, here: run, run: runAlone } = openCli();
const smtpServers: SmtpServerUnderTest[] = [];
afterAll(() => Promise.all(smtpServers.map((server) => server.close())));

const timestamp = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
const code = "012345";
const queued = mailId("waiting");
const failed = mailId("failed");
const sent = mailId("sent");

/** Makes a valid id that contains the status. */
function mailId(status: string): string {
  return `mail_${Buffer.from(status).toString("hex").padStart(26, "0")}`;
}

async function withDatabase<T>(dir: string, work: (db: Awaited<ReturnType<typeof openStoreDatabase>>) => Promise<T>) {
  const db = await openStoreDatabase({ dataDir: dir });
  try {
    await migrate(db);
    return await work(db);
  } finally {
    await db.close();
  }
}

/** Adds mails to the outbox of a store, in the states that a server leaves. */
async function fillOutbox(dir: string, namespace: string, ids = [queued, failed, sent] as const): Promise<void> {
  await withDatabase(dir, async (db) => {
    const vault = await openVault({ secret: undefined, dataDir: dir }, db);
    const rows = [
      { id: ids[0], status: "waiting", attempts: 0, lastError: null, sentAt: null },
      { id: ids[1], status: "failed", attempts: 1, lastError: "EENVELOPE: refused: 550", sentAt: null },
      { id: ids[2], status: "sent", attempts: 1, lastError: null, sentAt: new Date().toISOString() },
    ];
    for (const [index, { id, status, attempts, lastError, sentAt }] of rows.entries()) {
      const contents = { to: { emailKey: "ada@example.org" }, values: { code } };
      const at = new Date(Date.now() + index).toISOString();
      await db.execute({
        sql: `insert into mail_outbox (id, tenant_id, kind, sealed, status, attempts, next_attempt_at, useful_until,
            last_error, masked_to, created_at, finished_at)
          values (?, (select id from tenants where namespace = ?), 'reset_code', ?, ?, ?, ?, ?, ?, 'a…@example.org', ?, ?)`,
        args: [
          id,
          namespace,
          status === "sent" ? null : sealContents(vault, id, contents),
          status,
          attempts,
          at,
          new Date(Date.now() + 900_000).toISOString(),
          lastError,
          at,
          sentAt,
        ],
      });
    }
  });
}

beforeAll(async () => {
  await json("tenant", "create", "demo");
  await json("tenant", "create", "other");
  await fillOutbox(dataDir, "demo");
});

describe("mail list", () => {
  test("mail list shows mail newest first, with its state, without address and code", async () => {
    const mails = await json<Record<string, unknown>[]>("mail", "list", "-n", "demo");
    const record = { kind: "reset_code", to: "a…@example.org", last_error: null, sent_at: null };
    const refused = "EENVELOPE: refused: 550";
    expect(mails).toMatchObject([
      { ...record, id: sent, status: "sent", attempts: 1, next_attempt_at: null, sent_at: timestamp },
      { ...record, id: failed, status: "failed", attempts: 1, next_attempt_at: null, last_error: refused },
      { ...record, id: queued, status: "waiting", attempts: 0, next_attempt_at: timestamp },
    ]);
    expect(JSON.stringify(mails)).not.toContain(code);
  });

  test("mail list filters by store and status, and shows whole recipients on demand", async () => {
    expect(await json("mail", "list", "-n", "other")).toEqual([] as never);
    expect(await json("mail", "list", "--status", "failed")).toMatchObject([{ id: failed }]);
    expect(await json("mail", "list", "--limit", "1")).toMatchObject([{ id: sent }]);
    const shown = await json("mail", "list", "--status", "waiting", "--show-recipients");
    expect(shown).toMatchObject([{ to: "ada@example.org" }]);
  });

  test("mail list is a table for people, ids with -q, and never contains a code", async () => {
    const { stdout } = await run(["mail", "list", "-n", "demo"]);
    expect(stdout).toMatch(/^ID +NAMESPACE +KIND +TO +STATUS +ATTEMPTS +NEXT ATTEMPT +LAST ERROR +CREATED\n/);
    expect(stdout).not.toContain(code);
    expect((await run(["mail", "list", "-q"])).stdout).toBe(`${sent}\n${failed}\n${queued}\n`);
    expect(await run(["mail", "list", "-n", "other"])).toMatchObject({
      stdout: "",
      stderr: "No mail found.\n",
    });
  });

  test("mail list shows the codes of waiting reset mails of the demo store, and of no other store", async () => {
    const demo = openCli();
    await demo.json("tenant", "create", "demo");
    await demo.json("tenant", "create", "other");
    await fillOutbox(demo.dataDir, "other", [mailId("queued-too"), mailId("failed-too"), mailId("sent-too")]);
    await fillOutbox(demo.dataDir, "demo");
    expect((await demo.json<object[]>("mail", "list")).some((mail) => "code" in mail)).toBe(false);
    writeFileSync(join(demo.dataDir, "demo-key.json"), "{}");
    const shown = await demo.json<{ id: string; namespace: string; code?: string }[]>("mail", "list");
    const others = shown.filter(({ namespace }) => namespace === "other");
    expect(others.map(({ code }) => code)).toEqual([undefined, undefined, undefined]);
    const own = shown.filter(({ namespace }) => namespace === "demo");
    expect(own.map((mail) => [mail.id, mail.code])).toEqual([
      [sent, undefined],
      [failed, code],
      [queued, code],
    ]);
    expect((await demo.here(["mail", "list"])).stdout).toMatch(/^ID .* STATUS +CODE +ATTEMPTS/);
  });
});

describe("mail test", () => {
  const from = { BODEGA_MAIL_FROM: "Shop <shop@example.com>" };
  const line = ["mail", "test", "-n", "demo", "--to", "ada@example.org", "--json"];

  test("mail test sends at once over TLS, with a certificate that the environment trusts, and reports the server's replies", async () => {
    const server = await startSmtpServer({ security: "starttls", credentials: { user: "u", password: "hunter2" } });
    smtpServers.push(server);
    const file = join(makeDir(), "ca.pem");
    writeFileSync(file, certificate);
    const env = { ...from, BODEGA_SMTP_URL: server.url, NODE_EXTRA_CA_CERTS: file };
    const { stdout, stderr } = await runAlone([...line, "--language", "ar"], { env });
    expect({ stderr, trial: JSON.parse(stdout) }).toEqual({
      stderr: "",
      trial: {
        to: "ada@example.org",
        from: "shop@example.com",
        host: "127.0.0.1",
        port: server.port,
        message_id: expect.any(String),
        encrypted: true,
        answer: expect.stringMatching(/^250 /),
      },
    });
    expect(server.received).toMatchObject([{ to: ["ada@example.org"], secure: true, user: "u" }]);
    expect(server.received[0]?.header("content-language")).toBe("ar");
    expect(await json("mail", "list", "--status", "waiting")).toHaveLength(1);
    const untrusting = await runAlone(line, { env: { ...env, NODE_EXTRA_CA_CERTS: "" } });
    expect(untrusting.code).toBe(4);
    expect(untrusting.stderr).toContain("TLS connection to the mail server failed");
    expect(untrusting.stderr).not.toContain("hunter2");
  });

  test("mail test names the missing variable if no mail server is configured", async () => {
    const none = await run(line);
    const { message, remedy } = JSON.parse(none.stderr).error;
    expect([none.code, message, remedy]).toEqual([4, expect.stringContaining("BODEGA_SMTP_URL"), undefined]);
    const { code: status, stderr } = await run(line, { env: { BODEGA_SMTP_URL: "smtp://127.0.0.1:1" } });
    expect({ status, stderr }).toEqual({ status: 2, stderr: expect.stringContaining("BODEGA_MAIL_FROM") });
  });

  test("mail test reports an unreachable server with its address, also in the audit log", async () => {
    const { code: status, stderr } = await run(line, { env: { ...from, BODEGA_SMTP_URL: "smtp://127.0.0.1:1" } });
    expect(status).toBe(4);
    expect(JSON.parse(stderr).error).toMatchObject({ code: 5001, message: expect.stringContaining("127.0.0.1:1: ") });
    const [entry] = await json<Record<string, unknown>[]>("audit", "list", "--event", "mail.tested");
    expect(entry).toMatchObject({ namespace: "demo", code: 5001, details: { host: "127.0.0.1" } });
  });
});

// These tests are the last, because they change the mails.
describe("mail retry", () => {
  test("mail retry refuses mail that has not failed, unknown mail, another store's mail, and a call that names no mail", async () => {
    expect(await failure("mail", "retry", queued)).toMatchObject({ code: 4, error: { code: 5306 } });
    expect(await failure("mail", "retry", failed, "-n", "other")).toMatchObject({ code: 3, error: { code: 5301 } });
    expect(await failure("mail", "retry")).toMatchObject({ code: 2 });
    expect(await failure("mail", "retry", failed, "--all")).toMatchObject({ code: 2 });
    expect(await json("mail", "list", "--status", "failed")).toMatchObject([{ id: failed }]);
  });

  test("mail retry queues failed mail again, and records the actor in the audit log", async () => {
    expect(await json("mail", "retry", "--all", "-n", "other")).toEqual({ retried: 0 });
    expect(await json("mail", "retry", failed, "-n", "demo")).toEqual({ retried: 1 });
    expect(await json("mail", "list", "--status", "waiting")).toMatchObject([
      { id: failed, attempts: 0 },
      { id: queued },
    ]);
    expect(await json("audit", "list", "--event", "mail.retried")).toMatchObject([
      { event: "mail.retried", namespace: "demo", actor_kind: "terminal", subject: failed },
    ]);
  });
});
