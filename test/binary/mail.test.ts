import { afterEach, beforeEach, expect, test } from "bun:test";
import { readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { openStoreDatabase } from "../../src/server/admin/open-database.ts";
import { type Binary, openShop, useBinaries } from "../support/binary.ts";
import { certificate } from "../support/certificate.ts";
import { findInFiles } from "../support/find-in-files.ts";
import type { Serving } from "../support/serving.ts";
import { type Delivery, type SmtpServerUnderTest, startSmtpServer } from "../support/smtp.ts";

const { installBinary } = useBinaries();
const templates = readdirSync(join(import.meta.dir, "../../src/server/modules/mail/templates"));
const languages = templates.map((name) => name.replace(".json", ""));

/** The store, the server and the mail server of the current test. */
let binary: Binary;
let server: Serving;
let smtp: SmtpServerUnderTest;

beforeEach(async () => {
  binary = installBinary();
  smtp = await startSmtpServer({ security: "starttls", credentials: { user: "mailer", password: "hunter2-hunter2" } });
  writeFileSync(join(binary.dir, "ca.pem"), certificate);
  writeFileSync(join(binary.dir, "smtp-url"), `${smtp.url}\n`);
  Object.assign(binary.env, {
    NODE_EXTRA_CA_CERTS: join(binary.dir, "ca.pem"),
    BODEGA_SMTP_URL_FILE: join(binary.dir, "smtp-url"),
    BODEGA_MAIL_FROM: "shop@example.com",
  });
  await openShop(binary);
  await addUsers(languages.map((language) => `${language}@example.org`));
  server = await binary.serve("--workers", "2", "--trusted-proxy", "127.0.0.1");
}, 60_000);

afterEach(async () => {
  await server.end("SIGKILL");
  await smtp.close();
});

/** Adds users without passwords to the store. */
async function addUsers(emails: string[]): Promise<void> {
  const db = await openStoreDatabase({ dataDir: join(binary.dir, "bodega-data") });
  for (const email of emails) {
    await db.execute({
      sql: `insert into users (id, tenant_id, email, email_key, role, status, created_at, updated_at)
        select ?, id, ?, ?, 'customer', 'active', '', '' from tenants where namespace = 'demo'`,
      args: [`usr_${Bun.randomUUIDv7("hex")}`, email, email],
    });
  }
  await db.close();
}

function forgot(email: string, language: string, address: string): Promise<Response> {
  return fetch(`${server.url}/auth/password/forgot/?namespace=demo`, {
    method: "POST",
    headers: { "content-type": "application/json", "x-forwarded-for": address },
    body: JSON.stringify({ email, language }),
  });
}

/** Requests a reset code in every language. Returns the codes in the received mails. */
async function requestCodes(): Promise<string[]> {
  const replies = await Promise.all(
    languages.map((language, n) => forgot(`${language}@example.org`, language, `192.0.2.${n}`)),
  );
  expect(replies.map(({ status }) => status)).toEqual(languages.map(() => 200));
  await smtp.waitFor(languages.length);
  return languages.map((language) => {
    const code = /^\d{6}$/m.exec(deliveryTo(language).mail.text ?? "")?.[0];
    expect(code).toBeDefined();
    return code as string;
  });
}

const deliveryTo = (language: string) =>
  smtp.received.find(({ to }) => to[0] === `${language}@example.org`) as Delivery;

test("the server stops although connections to the mail server are open, and no file has a code or password", async () => {
  const codes = await requestCodes();
  expect(await server.end()).toBe(0);
  expect(server.log()).not.toContain("hunter2");
  expect(codes).toHaveLength(languages.length);
  expect(findInFiles(join(binary.dir, "bodega-data"), ["hunter2-hunter2"])).toEqual([]);
  for (const code of codes) expect(server.log()).not.toMatch(new RegExp(`\\b${code}\\b`));
});
