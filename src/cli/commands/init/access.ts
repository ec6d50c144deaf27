import { resolve } from "node:path";
import type { ShopPlan } from "../../../server/admin/create-shop.ts";
import { type Config, readConfig } from "../../../server/config/config.ts";
import { compareEnvFile } from "../../../server/config/env-file.ts";
import { attempt } from "../../../server/errors.ts";
import { slugFrom } from "../../../server/modules/products/slug.ts";
import { parseFromAddress } from "../../../server/values/email.ts";
import { planSecretFile } from "../../secrets/deliver.ts";
import { askStrongPassword, readPassword, readSecretFile } from "../../secrets/passwords.ts";
import type { Console } from "../../terminal/console.ts";
import { info, warn } from "../../terminal/output.ts";
import { askChoice, askText, askYesNo, introduce } from "../../terminal/prompt.ts";
import { askOrigins } from "../key/args.ts";
import { checks, type InitArgs, readSender } from "./flags.ts";

export async function takeOwner(args: InitArgs, console: Console, before: { email?: string; name?: string } = {}) {
  const { "owner-email": givenEmail, "owner-name": givenName } = args;
  if (givenEmail === undefined) {
    await introduce(console, "The owner has every permission in the store and signs in with email and password.");
  }
  const email =
    givenEmail ?? (await askText("Owner email", { suggestion: before.email, check: checks["owner-email"] }));
  const question = { suggestion: before.name, optional: true, check: checks["owner-name"] };
  const name = givenName ?? (console.canAsk ? await askText("Owner name (optional)", question) : "");
  const flags = {
    "password-stdin": args["owner-password-stdin"],
    "password-file": args["owner-password-file"],
    "random-password": args["owner-random-password"],
    "save-password-to": args["save-password-to"],
  };
  const { password, isRandom } = (await readPassword(flags, console, "owner-")) ?? (await askStrongPassword());
  const { requireStrongPassword } = await import("../../../server/modules/passwords/password-policy.ts");
  requireStrongPassword("password", password);
  return { email, name, password, isRandom };
}

const keyIntroduction =
  "A website, an app or an importer needs an app key to use the store. If you name a site, it is a storefront key.";
const pages = "Sites whose pages may use the key, such as shop.example.com (optional)";

/**
 * The first app key. When it cannot ask, it stays unpublished unless --publish is given. `secretFile` is the path of the
 * file for its secret; undefined to print it, also when no file can be created. `before` is suggested.
 */
export async function takeKey(args: InitArgs, console: Console, namespace: string, before?: ShopPlan["key"]) {
  const { "key-name": givenName, publish: givenPublish, origin } = args;
  if (console.canAsk) await introduce(console, keyIntroduction);
  const isAsked = console.canAsk && args.origins && origin.length === 0;
  const origins = isAsked ? await askOrigins(pages, true, before?.origins.join(", ")) : origin;
  const purpose = origins.length > 0 ? "storefront" : "backend";
  const suggestion = before && before.origins.length > 0 === origins.length > 0 ? before.name : purpose;
  const secretFile = args["save-secret-to"];
  if (!console.canAsk) return { name: givenName ?? suggestion, publish: givenPublish ?? false, origins, secretFile };
  const name = givenName ?? (await askText("Name of the first app key", { suggestion, check: checks["key-name"] }));
  const question = "Publish the key now? Requests with an unpublished key fail.";
  const publish = givenPublish ?? (await askYesNo(question, before?.publish ?? true));
  const file = `${namespace}-${slugFrom(name) || "key"}.secret`;
  if (secretFile !== undefined || !attempt(() => planSecretFile(file))) return { name, publish, origins, secretFile };
  const chosen = await askChoice<string | undefined>("Where should the key's secret go?", [
    { value: resolve(file), name: `to the file ${file}` },
    { value: undefined, name: "to the screen, once" },
  ]);
  return { name, publish, origins, secretFile: chosen };
}

/** The public URL of a server that other machines reach, which a terminal asks for; undefined for none. `before` is suggested. */
export async function takePublicUrl(args: InitArgs, console: Console, { host, publicUrl }: Config, before?: string) {
  const isLocal = /^(?:127\.|::1$|localhost$)/.test(host);
  if (!console.canAsk || isLocal || publicUrl !== undefined) return args["public-url"];
  const check = (text: string) => readConfig({ "data-dir": "/dev/null", "public-url": text }, {});
  const question = { suggestion: before, optional: true, check };
  return (await askText("Public URL, such as https://shop.example.com (optional)", question)) || undefined;
}

type TestMail = Record<"dataDir" | "title" | "language", string> & { to: string | undefined };

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
