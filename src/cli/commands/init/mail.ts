import { readConfig } from "../../../server/config/config.ts";
import { compareEnvFile } from "../../../server/config/env-file.ts";
import { parseFromAddress } from "../../../server/values/email.ts";
import { readSecretFile } from "../../secrets/passwords.ts";
import type { Console } from "../../terminal/console.ts";
import { info, warn } from "../../terminal/output.ts";
import { type InitArgs, readSender } from "./flags.ts";

interface TestMail {
  dataDir: string;
  title: string;
  language: string;
  to: string | undefined;
}

/**
 * The mail server that the flags name, after a test mail; null without --smtp-url-file. One that bodega.env has already
 * is not tested again.
 * @throws UsageError, validationFailed, and the errors of the test mail.
 */
export async function takeMail(args: InitArgs, console: Console, mail: TestMail) {
  const path = args["smtp-url-file"];
  if (path === undefined) return null;
  const mailFrom = readSender(args, console) as string;
  const given = readSecretFile(path, "--smtp-url-file").trim();
  readConfig({ "data-dir": "/dev/null" }, { BODEGA_SMTP_URL: given, BODEGA_MAIL_FROM: mailFrom });
  // A quote would end the quoted value in bodega.env.
  const smtpUrl = given.replaceAll("'", "%27");
  const isNew = compareEnvFile(mail.dataDir, { BODEGA_SMTP_URL: smtpUrl }).missing.length > 0;
  const isTested = isNew && args["mail-test"];
  if (isTested) await sendTestMail({ smtpUrl, mailFrom }, mail, console);
  return { smtpUrl, mailFrom, isTested };
}

async function sendTestMail(server: { smtpUrl: string; mailFrom: string }, mail: TestMail, console: Console) {
  const { smtpUrl, mailFrom } = server;
  const { title, language, to = parseFromAddress(mailFrom)?.address ?? mailFrom } = mail;
  await info(console, `Sending a test mail to ${to} through ${new URL(smtpUrl).host} …`);
  // Imported when needed, so that the help of init loads no mail library.
  const { sendTestMail: send } = await import("../../../server/modules/mail/test-mail.ts");
  const store = { title, language, domain: null, url: null, logo: null };
  const sent = await send({ to, mailFrom, smtp: { url: smtpUrl }, store, now: Date.now });
  if (sent.encrypted || console.json) return;
  const credentials = sent.authenticated ? ", and so did user and password" : "";
  await warn(console, `The test mail went to ${sent.host} unencrypted${credentials}: the server offers no encryption.`);
}
