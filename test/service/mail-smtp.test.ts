import { afterAll, expect, test } from "bun:test";
import { createServer } from "node:net";
import type { AppError, ErrorCode } from "../../src/server/errors.ts";
import { queueMail } from "../../src/server/modules/mail/outbox.ts";
import { smtpOptions } from "../../src/server/modules/mail/smtp.ts";
import { readSmtpFailure } from "../../src/server/modules/mail/smtp-failure.ts";
import { type TestMail, testMail } from "../../src/server/modules/mail/test-mail.ts";
import { openAccount } from "../support/account.ts";
import { certificate } from "../support/certificate.ts";
import { tenantContext } from "../support/factories.ts";
import { failureOf } from "../support/failure.ts";
import { openSender, readOutbox } from "../support/mail.ts";
import { type SmtpServerUnderTest, startSmtpServer } from "../support/smtp.ts";
import { onDatabase } from "../support/suite.ts";

const closers: (() => unknown)[] = [];
afterAll(() => Promise.all(closers.map((close) => close())));

const credentials = { user: "mailer@example.com", password: "p@ss:w/ord% é" };

async function startServer(options: Parameters<typeof startSmtpServer>[0] = {}): Promise<SmtpServerUnderTest> {
  const server = await startSmtpServer(options);
  closers.push(server.close);
  return server;
}

/** Starts a server that sends this text to each client, and nothing more. */
async function startMute(words = ""): Promise<string> {
  const server = createServer((socket) => socket.on("error", () => {}).write(words));
  closers.push(() => server.close());
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", () => resolve()));
  return `smtp://127.0.0.1:${(server.address() as { port: number }).port}`;
}

onDatabase("file", (suite) => {
  /** Queues a mail and makes one attempt to send it. Returns the state of the mail. */
  async function sendOne(url: string, more: { trusted?: string; timeoutMs?: number } = {}) {
    await suite.app.db.execute("delete from mail_outbox");
    const shop = await suite.shop();
    const ctx = await tenantContext(shop);
    const to = { email: "ada@example.org" };
    await queueMail(ctx, { kind: "reset_code", to, values: { code: "012345" } });
    const sender = openSender({ db: suite.app.db, clock: suite.app.clock }, { url, ...more });
    await sender.runUntilIdle();
    await sender.stop(1000);
    const [row] = await readOutbox(suite.app, shop.namespace);
    return { status: row?.status, error: row?.last_error };
  }

  test("mail is sent over TLS if the server offers or requires it", async () => {
    for (const [security, signIn] of [
      ["starttls", {}],
      ["starttls", { credentials }],
      ["tls", { credentials }],
    ] as const) {
      const server = await startServer({ security, ...signIn });
      expect(await sendOne(server.url, { trusted: certificate })).toMatchObject({ status: "sent" });
      expect(server.received).toMatchObject([
        { secure: true, user: "credentials" in signIn ? credentials.user : undefined },
      ]);
    }
  });

  test("codes for staff and mail to staff about orders link to the back office, and mail to customers does not", async () => {
    await suite.app.db.execute("delete from mail_outbox");
    const server = await startServer();
    const shop = await suite.shop();
    const ctx = await tenantContext(shop);
    const owner = await openAccount(shop, { role: "owner", email: "o+1@example.com" });
    const customer = await openAccount(shop);
    const values = { code: "012345" };
    for (const { email: emailKey } of [owner, customer])
      await queueMail(ctx, { kind: "reset_code", to: { emailKey }, values });
    const about = { number: "7", reason: "overpaid" };
    await queueMail(ctx, { kind: "needs_attention", to: { email: owner.email }, values: about });
    const app = { db: suite.app.db, clock: suite.app.clock };
    const sender = openSender(app, { url: server.url }, { backOffice: "https://api.example" });
    await sender.runUntilIdle();
    await sender.stop(1000);
    const texts = server.received.map(({ mail }) => mail.text ?? "");
    const start = `https://api.example/back-office/?store=${shop.namespace}#/`;
    const found = texts.map((text) => [...text.matchAll(/https:\/\/api\.example\S*/g)].map(([link]) => link));
    expect(found.toSorted()).toEqual([
      [],
      [`${start}orders?q=7`],
      [`${start}reset?email=o%2B1%40example.com&code=012345`],
    ]);
  });

  test.each(["starttls", "tls"] as const)(
    "a certificate that is untrusted or for another host is refused (%s)",
    async (security) => {
      const server = await startServer({ security, credentials });
      const elsewhere = server.url.replace("127.0.0.1", "0.0.0.0");
      const outcomes = [await sendOne(server.url), await sendOne(elsewhere, { trusted: certificate })];
      expect(outcomes).toEqual(
        ["DEPTH_ZERO_SELF_SIGNED_CERT", "ERR_TLS_CERT_ALTNAME_INVALID"].map((code) => {
          return { status: "waiting", error: `the TLS connection to the mail server failed (${code})` };
        }),
      );
      expect(server.received).toEqual([]);
    },
  );

  test("a URL cannot disable the checks of certificates", () => {
    const options = smtpOptions({ url: "smtp://u:p@mail.example/?tls.rejectUnauthorized=false&ignoreTLS=true" });
    expect(options).toMatchObject({ requireTLS: true, tls: { rejectUnauthorized: true } });
    expect(Object.keys(options)).not.toContain("ignoreTLS");
  });

  test("mail credentials are sent to another machine only over TLS", () => {
    const cases: [url: string, requireTLS: boolean, secure: boolean, port: number][] = [
      ["smtp://u:p@mail.example", true, false, 587],
      ["smtp://u:p@mail.example:25", true, false, 25],
      ["smtp://u@10.0.0.1", true, false, 587],
      ["smtp://u:p@localhost.example", true, false, 587],
      ["smtp://u:p@127.0.0.1.example", true, false, 587],
      ["smtp://u:p@localhost", false, false, 587],
      ["smtp://u:p@127.0.0.5", false, false, 587],
      ["smtp://u:p@[::1]:2525", false, false, 2525],
      ["smtp://mail.example", false, false, 587],
      ["smtps://u:p@mail.example", false, true, 465],
    ];
    for (const [url, requireTLS, secure, port] of cases) {
      expect({ url, ...smtpOptions({ url }) }).toMatchObject({ requireTLS, secure, port });
    }
    expect(smtpOptions({ url: "smtp://u:p@[::1]" }).host).toBe("::1");
  });

  test("a server without the required TLS gets neither credentials nor mail", async () => {
    const stages: string[] = [];
    const behave = (stage: string) => void stages.push(stage);
    const server = await startServer({ credentials, behave: behave as () => undefined });
    // Uses an address of this machine that is not a loopback address.
    const error = expect.stringMatching(/\(ETLS\)/);
    expect(await sendOne(server.url.replace("127.0.0.1", "0.0.0.0"))).toEqual({ status: "waiting", error });
    expect(stages).toEqual(["connect"]);
    expect(await sendOne(server.url)).toMatchObject({ status: "sent" });
  });

  test("with wrong credentials, mail waits, and the error does not contain the credentials", async () => {
    const server = await startServer({ credentials });
    const url = server.url.replace(encodeURIComponent(credentials.password), "wr0ng-passw0rd");
    const error = "the mail server rejected the credentials (EAUTH): 535";
    expect(await sendOne(url)).toEqual({ status: "waiting", error });
  });

  test("an attempt to send mail ends if the server hangs at any step", async () => {
    const timeoutMs = 100;
    const hanging = await startServer({ behave: (stage) => (stage === "rcpt" ? "hang" : undefined) });
    for (const url of [await startMute(), await startMute("220 hello\r\n"), hanging.url]) {
      const error = expect.stringMatching(/\((ETIMEDOUT|ECONNECTION)\)$/);
      expect(await sendOne(url, { timeoutMs })).toEqual({ status: "waiting", error });
    }
  });

  test("a server that speaks another protocol counts as an outage, and the mail stays in the queue", async () => {
    for (const words of ["HTTP/1.1 400 Bad Request\r\n\r\n", "\u0000\u0001\u0002\r\n", "220-".repeat(2000)]) {
      const { status } = await sendOne(await startMute(words), { timeoutMs: 200 });
      expect(status).toBe("waiting");
    }
  });

  test("many mails are sent over one connection", async () => {
    const server = await startServer();
    const ctx = await tenantContext(await suite.shop());
    for (let n = 0; n < 15; n++) {
      await queueMail(ctx, { kind: "password_changed", to: { email: `u${n}@example.org` }, values: {} });
    }
    const sender = openSender({ db: suite.app.db, clock: suite.app.clock }, { url: server.url });
    await sender.runUntilIdle();
    expect(server.received).toHaveLength(15);
    expect(server.connections()).toBeLessThanOrEqual(4);
    await sender.stop(1000);
  });

  test("a title or name with line breaks and quotes stays within one header of a mail", async () => {
    const server = await startServer();
    const shop = await suite.shop();
    const title = 'Evil"\r\nBcc: victim@example.net\r\nX-Evil: 1';
    await suite.app.db.execute({
      sql: "update tenants set title = ? where namespace = ?",
      args: [title, shop.namespace],
    });
    const ctx = await tenantContext(shop);
    const to = { email: "ada@example.org", name: "Ada\r\nCc: victim@example.net" };
    await queueMail(ctx, { kind: "password_changed", to, values: {} });
    const sender = openSender({ db: suite.app.db, clock: suite.app.clock }, { url: server.url });
    await sender.runUntilIdle();
    const [delivery] = server.received;
    expect(delivery).toMatchObject({ to: ["ada@example.org"], from: "shop@example.com" });
    expect(delivery?.header("bcc")).toBeUndefined();
    expect(delivery?.header("cc")).toBeUndefined();
    expect(delivery?.header("x-evil")).toBeUndefined();
    expect(delivery?.mail.from).toEqual({
      name: 'Evil" Bcc: victim@example.net X-Evil: 1',
      address: "shop@example.com",
    });
    await sender.stop(1000);
  });

  /** Sends a test mail in the same way as `bodega mail test`. */
  async function tryServer(url: string | undefined): Promise<TestMail> {
    const ctx = await tenantContext(await suite.shop());
    const smtp = { ...(url !== undefined && { url }), timeoutMs: 1000 };
    return testMail(ctx, { to: "ada@example.org", language: "fr", mailFrom: "shop@example.com", smtp });
  }

  test("a test mail is in the given language, and its result says if the session was not encrypted", async () => {
    const plain = await startServer();
    expect(await tryServer(plain.url)).toMatchObject({ encrypted: false });
    expect(plain.received[0]?.mail.subject).toBe("Message de test");
  });

  test("the error of a failed test mail names the step, without a secret", async () => {
    const refusing = await startServer({ behave: (stage) => (stage === "rcpt" ? "550 no such user" : undefined) });
    const unsafe = await startServer({ security: "starttls", credentials });
    const closed = await startServer({ credentials });
    const wrong = closed.url.replace(encodeURIComponent(credentials.password), "wr0ng-passw0rd");
    const cases: [url: string | undefined, code: number, message: string][] = [
      [undefined, 5306, "BODEGA_SMTP_URL"],
      ["smtp://127.0.0.1:1", 5001, "ECONNREFUSED"],
      ["smtp://no-such-host.invalid", 5001, "was not found"],
      [await startMute(), 5001, "did not answer in time"],
      [refusing.url, 5306, "550 no such user"],
      [unsafe.url, 5001, "TLS connection to the mail server failed"],
      [wrong, 5306, "rejected the credentials"],
    ];
    for (const [url, code, message] of cases) {
      const failure = (await failureOf(tryServer(url))) as AppError;
      expect({ url, code: failure.code }).toEqual({ url, code: code as ErrorCode });
      expect(failure.message).toContain(message);
      expect(failure.message).not.toContain("wr0ng");
    }
    const ctx = await tenantContext(await suite.shop());
    const smtp = { url: refusing.url };
    expect(await failureOf(testMail(ctx, { to: "nobody", mailFrom: "shop@example.com", smtp }))).toMatchObject({
      code: 5102,
      details: [{ field: "to" }],
    });
  });
});

test("the error text of failed mail says what to do", () => {
  const textOf = (code: string, originalCode?: string) =>
    readSmtpFailure(Object.assign(new Error("x"), { code, originalCode }), []).text;
  expect(textOf("ESOCKET", "ERR_SSL_WRONG_VERSION_NUMBER")).toContain("Try STARTTLS: smtp://…");
  expect(textOf("ETLS", "ERR_SSL_WRONG_VERSION_NUMBER")).toContain("does not speak TLS on this port");
  expect(textOf("EDNS", "ENOTFOUND")).toContain("Check BODEGA_SMTP_URL (ENOTFOUND)");
});

test("the error text of failed mail contains no secret", () => {
  const error = Object.assign(new Error("x"), { code: "EMESSAGE", command: "DATA", responseCode: 554 });
  const secrets = ["hunter2-hunter2", "012345"];
  const response = "554 a@b.example said 012345 with hunter2-hunter2\r\nand more";
  expect(readSmtpFailure(Object.assign(error, { response }), secrets)).toEqual({
    isFinal: true,
    isOutage: false,
    isCredentials: false,
    text: "the mail server rejected the mail (EMESSAGE): 554 … said … with … and more",
  });
  expect(readSmtpFailure(new TypeError("secret"), [])).toMatchObject({
    isFinal: false,
    text: "the mail could not be sent (unexpected)",
  });
  expect(readSmtpFailure(Object.assign(error, { response: "5".repeat(5000) }), []).text.length).toBe(200);
});
