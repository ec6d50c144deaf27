import { afterAll, describe, expect, test } from "bun:test";
import type { Session } from "../../src/server/db/session.ts";
import { inTransaction } from "../../src/server/db/transaction.ts";
import { leaseMs } from "../../src/server/delivery/claim.ts";
import { maxConnections } from "../../src/server/modules/mail/delivery.ts";
import { type ClaimedMail, expireMail, mailQueue, purgeMail, queueMail } from "../../src/server/modules/mail/outbox.ts";
import { retryMail } from "../../src/server/modules/mail/service.ts";
import { createVault } from "../../src/server/security/vault.ts";
import { createClock } from "../support/clock.ts";
import { tenantContext } from "../support/factories.ts";
import { failureOf } from "../support/failure.ts";
import { findInFiles } from "../support/find-in-files.ts";
import { openSender, readOutbox } from "../support/mail.ts";
import { type Behaviour, type SmtpServerUnderTest, type Stage, startSmtpServer } from "../support/smtp.ts";
import { onEachDatabase, type Suite } from "../support/suite.ts";

const servers: SmtpServerUnderTest[] = [];
afterAll(() => Promise.all(servers.map((server) => server.close())));

const minuteMs = 60_000;
const code = "012345";
let people = 0;

/** Opens a store with its own clock, a mail server that tests control, and an engine that sends. */
async function openPost(suite: Suite, options: { title?: string; language?: string } = {}) {
  // Deletes mail of earlier tests, because the engine would also send it.
  await suite.app.db.execute("delete from mail_outbox");
  const shop = await suite.shop({ tenant: options });
  const clock = createClock();
  const ctx = { ...(await tenantContext(shop)), now: clock.now };
  let behaviour: (stage: Stage, address: string) => Behaviour | undefined = () => undefined;
  const smtp = await startSmtpServer({ behave: (stage, address) => behaviour(stage, address) });
  servers.push(smtp);
  const notices: string[] = [];
  const app = { db: suite.app.db, clock };
  const notice = (_level: string, message: string) => notices.push(message);
  const sender = openSender(app, { url: smtp.url }, { notice });
  const email = `ada-${people++}@example.org`;
  return {
    ctx,
    clock,
    smtp,
    sender,
    notices,
    email,
    behave: (next: typeof behaviour) => {
      behaviour = next;
    },
    queue: (more: Partial<Parameters<typeof queueMail>[1]> = {}) =>
      queueMail(ctx, { kind: "reset_code", to: { email }, values: { code }, ...more }),
    outbox: () => readOutbox(suite.app, shop.namespace),
    openSender: (db: Session) => openSender({ db, clock }, { url: smtp.url }, { notice }),
    async addUser(fields: { email?: string; status?: string; lang?: string; name?: string } = {}) {
      const { email: address = email, status = "active", lang = null, name = null } = fields;
      await suite.app.db.execute({
        sql: `insert into users (id, tenant_id, email, email_key, name, lang, role, status, created_at, updated_at)
          values (?, ?, ?, ?, ?, ?, 'customer', ?, '', '')`,
        args: [`usr_${Bun.randomUUIDv7()}`, ctx.tenant.id, address, address.toLowerCase(), name, lang, status],
      });
    },
  };
}

onEachDatabase((suite) => {
  const { onFile } = suite;
  test("a queued mail is sent once with its text, and its contents are erased", async () => {
    const { sender, smtp, queue, outbox, email, clock } = await openPost(suite, { title: "Lamp Shop" });
    const id = await queue({ to: { email, name: "Ada", lang: "fr" } });
    expect(await outbox()).toMatchObject([{ id, status: "waiting", attempts: 0, values: { code } }]);
    expect(await sender.runUntilIdle()).toBe(1);
    expect(await sender.runUntilIdle()).toBe(0);
    expect(smtp.received).toHaveLength(1);
    const [delivery] = smtp.received;
    expect(delivery).toMatchObject({ from: "shop@example.com", to: [email] });
    expect(delivery?.mail).toMatchObject({
      from: { name: "Lamp Shop", address: "shop@example.com" },
      to: [{ name: "Ada", address: email }],
      subject: "Votre code de réinitialisation du mot de passe",
      text: expect.stringContaining(`\n${code}\n`),
      html: expect.stringContaining(`>${code}<`),
      messageId: `<${id}@example.com>`,
    });
    expect(delivery?.header("auto-submitted")).toBe("auto-generated");
    expect(delivery?.header("content-language")).toBe("fr");
    const [row] = await outbox();
    expect(row).toMatchObject({ status: "sent", attempts: 1, last_error: null });
    expect(row?.finished_at).toBe(new Date(clock.now()).toISOString());
    expect(row).not.toHaveProperty("values");
  });

  onFile("a mail whose transaction is rolled back is never sent", async () => {
    const { ctx, sender, smtp, email, outbox } = await openPost(suite);
    await failureOf(
      inTransaction(ctx, async (tx) => {
        await queueMail(tx, { kind: "password_changed", to: { email }, values: {} });
        throw new Error("the act failed");
      }),
    );
    expect(await sender.runUntilIdle()).toBe(0);
    expect({ rows: await outbox(), received: smtp.received }).toEqual({ rows: [], received: [] });
  });

  describe("a mail to an address", () => {
    onFile(
      "a mail to an address goes to the user who has the address when the mail is sent, in the user's language and with the user's name",
      async () => {
        const { queue, sender, smtp, addUser, email } = await openPost(suite);
        await queue({ to: { emailKey: email } });
        await addUser({ email: email.replace("a", "A"), lang: "de", name: "Ada" });
        await sender.runUntilIdle();
        expect(smtp.received).toMatchObject([{ to: [email.replace("a", "A")] }]);
        expect(smtp.received[0]?.mail.text).toStartWith("Guten Tag Ada,");
      },
    );

    onFile("a mail to an address without an active user is erased, and reaches no mail server", async () => {
      const [one, other] = [await openPost(suite), await openPost(suite)];
      const disabled = `disabled-${one.email}`;
      await one.addUser({ email: disabled, status: "disabled" });
      await other.addUser({ email: one.email });
      for (const emailKey of [one.email, disabled]) await one.queue({ to: { emailKey } });
      await one.sender.runUntilIdle();
      const rows = await one.outbox();
      expect(rows).toMatchObject(Array(2).fill({ status: "dropped", last_error: null }));
      for (const row of rows) expect(row).not.toHaveProperty("values");
      expect(one.smtp.connections()).toBe(0);
    });
  });

  describe("expiry", () => {
    onFile("an outdated mail is not sent, but marked as expired and erased", async () => {
      const { queue, sender, smtp, outbox, clock } = await openPost(suite);
      await queue({ usefulUntil: clock.now() + 15 * minuteMs });
      await queue({ kind: "password_changed", values: {} });
      clock.advance(15 * minuteMs);
      await sender.runUntilIdle();
      const rows = await outbox();
      expect(rows).toMatchObject([{ kind: "reset_code", status: "expired" }, { status: "sent" }]);
      expect(rows[0]).not.toHaveProperty("values");
      expect(smtp.received).toHaveLength(1);
    });

    onFile("without a mail server, mail waits for a week and is then erased", async () => {
      const { ctx, queue, outbox, clock } = await openPost(suite);
      await queue();
      clock.advance(7 * 86_400_000 - 1);
      await expireMail(ctx);
      expect(await outbox()).toMatchObject([{ status: "waiting", attempts: 0, values: { code } }]);
      clock.advance(1);
      await expireMail(ctx);
      expect(await outbox()).toMatchObject([{ status: "expired" }]);
    });

    onFile("finished mail is purged after thirty days, and waiting mail is not", async () => {
      const { ctx, queue, sender, outbox, clock } = await openPost(suite);
      await queue();
      await sender.runUntilIdle();
      const waiting = await queue({ usefulUntil: clock.now() + 90 * 86_400_000 });
      clock.advance(30 * 86_400_000 - 1);
      await purgeMail(ctx);
      expect(await outbox()).toHaveLength(2);
      clock.advance(1);
      await purgeMail(ctx);
      expect(await outbox()).toMatchObject([{ id: waiting, status: "waiting" }]);
    });
  });

  describe("a later mail for the same subject", () => {
    const about = (replaces: string) => ({ replaces, to: { emailKey: replaces } });

    onFile("a later mail for the same subject replaces and erases waiting mails", async () => {
      const { queue, sender, smtp, outbox, email, addUser, clock } = await openPost(suite);
      await addUser();
      await queue(about(email));
      await queue(about(email));
      await queue({ ...about(email), values: { code: "543210" } });
      clock.advance(1000);
      await sender.runUntilIdle();
      expect(smtp.received.map(({ mail }) => mail.text)).toEqual([expect.stringContaining("\n543210\n")]);
      const rows = await outbox();
      expect(rows.map(({ status }) => status).toSorted()).toEqual(["expired", "expired", "sent"]);
      for (const row of rows) expect(row).not.toHaveProperty("values");
    });

    onFile("a later mail does not replace mail of another kind, subject or store, or without a subject", async () => {
      const [one, other] = [await openPost(suite), await openPost(suite)];
      await other.queue(about(one.email));
      await one.queue();
      await one.queue({ ...about(one.email), kind: "password_changed", values: {} });
      await one.queue(about(other.email));
      await one.queue(about(one.email));
      await one.queue();
      expect((await one.outbox()).map(({ status }) => status)).toEqual(Array(5).fill("waiting"));
      expect(await other.outbox()).toMatchObject([{ status: "waiting" }]);
    });

    test("of many mails for the same subject that are queued at once, only one waits to be sent", async () => {
      const { ctx, outbox, email } = await openPost(suite);
      const elsewhere = { ...ctx, db: await suite.database.openAgain() };
      const mail = { kind: "reset_code" as const, values: { code }, ...about(email) };
      await Promise.all(Array.from({ length: 12 }, (_, n) => queueMail(n % 2 ? elsewhere : ctx, mail)));
      const rows = await outbox();
      expect(rows.map(({ status }) => status).toSorted()).toEqual([...Array(11).fill("expired"), "waiting"]);
    });

    onFile("a later mail for the same subject does not stop a mail that is being sent", async () => {
      const { ctx, queue, outbox, email } = await openPost(suite);
      await queue(about(email));
      const [held] = (await mailQueue.claim(ctx)) as [ClaimedMail];
      const id = await queue(about(email));
      await ctx.db.execute(mailQueue.postponed(held, { status: null, error: "late" }, ctx.now()));
      expect(await mailQueue.claim(ctx)).toMatchObject([{ id }]);
      expect(await mailQueue.claim(ctx)).toEqual([]);
      await ctx.db.execute(mailQueue.delivered(held, { status: null, error: null }, ctx.now()));
      expect(await outbox()).toMatchObject([
        { id: held.id, status: "sent" },
        { id, status: "waiting" },
      ]);
    });
  });

  describe("failures", () => {
    onFile(
      "failed mail is tried again after 5 s, 15 s, 1, 5, 15, 60 minutes, then three times after 6 hours; the tenth attempt is the last",
      async () => {
        const { queue, sender, outbox, clock, behave, notices } = await openPost(suite);
        behave((stage) => (stage === "rcpt" ? "451 not now" : undefined));
        await queue();
        const waits: number[] = [];
        for (;;) {
          expect(await sender.runUntilIdle()).toBe(1);
          const [row] = await outbox();
          if (row?.status !== "waiting") break;
          const wait = Date.parse(row.next_attempt_at) - clock.now();
          waits.push(wait / 1000);
          clock.advance(wait - 1);
          expect(await sender.runUntilIdle()).toBe(0);
          clock.advance(1);
        }
        expect(waits).toEqual([5, 15, 60, 300, 900, 3600, 21_600, 21_600, 21_600]);
        const [row] = await outbox();
        expect(row).toMatchObject({ status: "failed", attempts: 10, values: { code } });
        expect(row?.last_error).toContain("451 not now");
        expect(notices).toEqual([expect.stringContaining("failed")]);
      },
    );

    const answers: [stage: Stage, answer: Behaviour, outcome: "failed" | "waiting"][] = [
      ["rcpt", "550 no such user", "failed"],
      ["rcpt", "552 mailbox full", "failed"],
      ["data", "554 looks like spam", "failed"],
      ["rcpt", "450 greylisted", "waiting"],
      ["data", "452 disk full", "waiting"],
      ["mail", "550 this sender may not", "waiting"],
      ["rcpt", "530 sign in first", "waiting"],
      ["connect", "554 no service", "waiting"],
      ["connect", "421 too busy", "waiting"],
    ];
    onFile("a mail that the mail server refuses fails; after any other answer, it is tried again", async () => {
      const { queue, openSender, outbox, behave, clock, smtp } = await openPost(suite);
      for (const [stage, answer, outcome] of answers) {
        // Each row has its own connections and circuit breaker.
        const sender = openSender(suite.app.db);
        const before = smtp.received.length;
        behave((at) => (at === stage ? answer : undefined));
        const id = await queue();
        await sender.runUntilIdle();
        const row = (await outbox()).find((mail) => mail.id === id);
        const last_error = expect.stringContaining(answer.slice(0, 3));
        expect([answer, row]).toMatchObject([answer, { status: outcome, attempts: 1, values: { code }, last_error }]);
        behave(() => undefined);
        clock.advance(5000);
        await sender.runUntilIdle();
        expect([answer, smtp.received.length - before]).toEqual([answer, outcome === "waiting" ? 1 : 0]);
        await sender.stop(0);
      }
    });

    onFile("a mail that is sent twice after a cut connection has the same Message-ID both times", async () => {
      const { queue, sender, outbox, behave, clock, smtp } = await openPost(suite);
      const cutAt: number[] = [];
      behave((stage) => {
        if (stage !== "data" || cutAt.length > 0) return undefined;
        cutAt.push(clock.now());
        return "cut";
      });
      const id = await queue();
      await sender.runUntilIdle();
      expect(cutAt).toHaveLength(1);
      expect(await outbox()).toMatchObject([
        { status: "waiting", attempts: 1, last_error: expect.stringMatching(/\(E\w+\)/) },
      ]);
      clock.advance(5000);
      await sender.runUntilIdle();
      expect(smtp.received.map(({ mail }) => mail.messageId)).toEqual([`<${id}@example.com>`]);
      expect(await outbox()).toMatchObject([{ status: "sent", attempts: 2 }]);
    });

    onFile("a mail that was encrypted with another key fails, and the other mails are sent", async () => {
      const { ctx, queue, sender, outbox, smtp, email } = await openPost(suite);
      const other = { ...ctx, vault: createVault(() => "another secret of at least 32 characters") };
      const id = await queueMail(other, { kind: "password_changed", to: { email }, values: {} });
      await queue();
      await sender.runUntilIdle();
      expect(smtp.received).toHaveLength(1);
      const { rows } = await suite.app.db.execute({
        sql: "select status, last_error from mail_outbox where id = ?",
        args: [id],
      });
      expect({ ...rows[0] }).toEqual({ status: "failed", last_error: "encrypted with another secret key" });
      await suite.app.db.execute({ sql: "delete from mail_outbox where id = ?", args: [id] });
      expect(await outbox()).toHaveLength(1);
    });

    onFile("while the mail server is down, one mail at a time is tried, and the outage is logged once", async () => {
      const { queue, sender, outbox, clock, behave, notices } = await openPost(suite);
      behave((stage) => (stage === "connect" ? "cut" : undefined));
      for (let n = 0; n < 12; n++) await queue();
      expect(await sender.runUntilIdle()).toBeWithin(1, maxConnections + 1);
      expect(await sender.runUntilIdle()).toBe(0);
      clock.advance(5000);
      expect(await sender.runUntilIdle()).toBe(1);
      behave(() => undefined);
      clock.advance(minuteMs);
      await sender.runUntilIdle();
      expect((await outbox()).map(({ status }) => status)).toEqual(Array(12).fill("sent"));
      expect(notices).toEqual([
        expect.stringMatching(/^mail stays queued: the mail server .*\(E\w+\)/),
        "the mail server accepts mail again",
      ]);
    });
  });

  describe("several processes", () => {
    test("two processes send each of thirty mails exactly once", async () => {
      const post = await openPost(suite);
      const elsewhere = post.openSender(await suite.database.openAgain());
      const ids = await Promise.all(Array.from({ length: 30 }, () => post.queue()));
      await Promise.all([post.sender.runUntilIdle(), elsewhere.runUntilIdle(), post.sender.runUntilIdle()]);
      const arrived = post.smtp.received.map(({ mail }) => mail.messageId).toSorted();
      expect(arrived).toEqual(ids.map((id) => `<${id}@example.com>`).toSorted());
      for (const row of await post.outbox()) expect(row).toMatchObject({ status: "sent", attempts: 1 });
      await elsewhere.stop(0);
    });

    onFile("mail that a killed process had claimed is sent by another process after the lease", async () => {
      const { ctx, queue, sender, smtp, clock } = await openPost(suite);
      const id = await queue();
      expect(await mailQueue.claim(ctx)).toMatchObject([{ id, attempts: 1 }]);
      expect(await mailQueue.claim(ctx)).toEqual([]);
      clock.advance(leaseMs - 1);
      expect(await sender.runUntilIdle()).toBe(0);
      clock.advance(1);
      expect(await sender.runUntilIdle()).toBe(1);
      expect(smtp.received).toHaveLength(1);
    });

    onFile("a mail that crashes each process that claims it finally fails", async () => {
      const { ctx, queue, sender, outbox, clock, smtp } = await openPost(suite);
      await queue();
      for (let n = 0; n < 10; n++) {
        expect(await mailQueue.claim(ctx)).toHaveLength(1);
        clock.advance(leaseMs);
      }
      await sender.runUntilIdle();
      expect(await outbox()).toMatchObject([{ status: "failed", last_error: "every attempt was interrupted" }]);
      expect(smtp.received).toEqual([]);
    });

    onFile("a process whose claim has expired cannot change a mail that another process has claimed", async () => {
      const { ctx, queue, outbox, clock } = await openPost(suite);
      await queue();
      const [late] = (await mailQueue.claim(ctx)) as [ClaimedMail];
      clock.advance(leaseMs);
      const [current] = (await mailQueue.claim(ctx)) as [ClaimedMail];
      await ctx.db.execute(mailQueue.postponed(late, { status: null, error: "late" }, clock.now()));
      await ctx.db.execute(mailQueue.ended(late, { outcome: "failed", status: null, error: "late" }, ctx.now()));
      expect(await outbox()).toMatchObject([{ status: "waiting", next_attempt_at: current.lease, last_error: null }]);
      // A sent mail must not be sent again.
      await ctx.db.execute(mailQueue.delivered(late, { status: null, error: null }, ctx.now()));
      await ctx.db.execute(mailQueue.postponed(current, { status: null, error: "later" }, clock.now()));
      expect(await outbox()).toMatchObject([{ status: "sent", last_error: null }]);
    });
  });

  describe("a stopping engine", () => {
    onFile("a stopping engine waits for running attempts, and claims no more mail", async () => {
      const { queue, sender, outbox, behave } = await openPost(suite);
      for (let n = 0; n < 8; n++) await queue();
      let stopped: Promise<void> | undefined;
      behave((stage) => {
        if (stage === "data") stopped ??= sender.stop(5000);
        return undefined;
      });
      await sender.runUntilIdle();
      await stopped;
      const rows = await outbox();
      const sent = rows.filter(({ status }) => status === "sent").length;
      expect(sent).toBeGreaterThanOrEqual(1);
      expect(sent).toBeLessThanOrEqual(maxConnections);
      expect(rows.filter(({ status, attempts }) => status === "waiting" && attempts === 0)).toHaveLength(8 - sent);
      expect(await sender.runUntilIdle()).toBe(0);
    });
  });

  describe("mail commands", () => {
    onFile("mail retry --all queues all failed, unexpired mail of the given store", async () => {
      const [one, other] = [await openPost(suite), await openPost(suite)];
      for (const { behave, queue, sender, clock } of [one, other]) {
        behave((stage) => (stage === "rcpt" ? "550 no such user" : undefined));
        await queue();
        await queue({ usefulUntil: clock.now() + minuteMs });
        await sender.runUntilIdle();
        clock.advance(minuteMs);
      }
      expect(await retryMail(one.ctx, { which: "all", namespace: one.ctx.tenant.namespace })).toBe(1);
      expect((await one.outbox()).map(({ status }) => status)).toEqual(["waiting", "failed"]);
      expect((await other.outbox()).map(({ status }) => status)).toEqual(["failed", "failed"]);
      await expireMail(one.ctx);
      expect((await one.outbox())[1]).not.toHaveProperty("values");
    });
  });

  onFile("database files never contain a code or an address of queued mail", async () => {
    const { ctx, queue, sender, email, behave, clock, outbox } = await openPost(suite);
    const canary = "canary-948371";
    const texts = [canary, email];
    const search = () => findInFiles(suite.database.dataDir, texts);
    await queue({ values: { code: canary } });
    await queueMail(ctx, { kind: "reset_code", to: { emailKey: email }, values: { code: canary } });
    expect(search()).toEqual([]);
    behave((stage, address) => (stage === "data" ? (`451 ${address} ${canary}` as Behaviour) : undefined));
    await sender.runUntilIdle();
    expect((await outbox())[0]?.last_error).toContain("451");
    expect(search()).toEqual([]);
    behave(() => undefined);
    clock.advance(minuteMs);
    await sender.runUntilIdle();
    expect((await outbox())[0]?.status).toBe("sent");
    expect(search()).toEqual([]);
  });
});
