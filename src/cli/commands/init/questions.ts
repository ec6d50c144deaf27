import { resolve } from "node:path";
import type { ShopPlan } from "../../../server/admin/create-shop.ts";
import { type Config, readConfig } from "../../../server/config/config.ts";
import { compareEnvFile } from "../../../server/config/env-file.ts";
import { invalidField } from "../../../server/errors.ts";
import { slugFrom } from "../../../server/modules/catalogue/products/slug.ts";
import { attempt } from "../../../server/values/attempt.ts";
import { parseFromAddress } from "../../../server/values/email.ts";
import { spellPlainly } from "../../../server/values/fold-letters.ts";
import { planSecretFile } from "../../secrets/deliver.ts";
import { askStrongPassword, readPassword, readSecretFile } from "../../secrets/passwords.ts";
import type { Console } from "../../terminal/console.ts";
import { info, warn } from "../../terminal/output.ts";
import { askChoice, askText, askYesNo, introduce } from "../../terminal/prompt.ts";
import { askOrigins } from "../key/args.ts";
import { checks, type InitArgs, readSender } from "./flags.ts";

export function findNamespace({ namespace, title }: InitArgs, existing: readonly string[]): string | undefined {
  if (namespace !== undefined) return namespace;
  if (title !== undefined) return suggestNamespace(title) || undefined;
  return existing.length === 1 ? existing[0] : undefined;
}

type Named = { namespace: string; title: string | undefined };

export async function askNamespace(args: InitArgs, existing: readonly string[], before?: Named) {
  if (args.namespace !== undefined) return { namespace: args.namespace, title: args.title };
  if (args.title === undefined && existing.length > 0) {
    const choices = existing.map((value): { value: string | undefined; name: string } => ({ value, name: value }));
    const chosen =
      existing.length === 1
        ? existing[0]
        : await askChoice("Store", [...choices, { value: undefined, name: "a new store" }]);
    if (chosen !== undefined) return { namespace: chosen, title: undefined };
  }
  const title = args.title ?? (await askTitle(before?.title));
  const namespace = await askText("Namespace (name of the store in every request)", {
    suggestion: before?.title === title ? before.namespace : suggestNamespace(title),
    check: (text) => {
      checks.namespace(text);
      if (args.title !== undefined || !existing.includes(text)) return;
      throw invalidField("namespace", `exists already; to set up that store: bodega init -n ${text}`);
    },
  });
  return { namespace, title };
}

/** The fields of a new store. When it cannot ask, missing flags get the defaults of `tenant create`. `before` is suggested. */
export async function resolveStore(
  args: InitArgs,
  console: Console,
  { namespace, title }: Named,
  before: { title?: string; currency?: string; language?: string } = {},
) {
  const ask = (message: string, suggestion: string, check: (text: string) => unknown) =>
    console.canAsk ? askText(message, { suggestion, check }) : suggestion;
  const { LC_ALL, LC_MESSAGES, LANG } = console.env;
  const [locale = "en"] = /^[a-z]{2,3}(?=[_.@]|$)/.exec(LC_ALL || LC_MESSAGES || LANG || "") ?? [];
  const given = title ?? (console.canAsk ? await askTitle(before.title) : namespace);
  const money = before.currency ?? "EUR";
  const currency = args.currency ?? (await ask("Currency of prices, such as EUR or USD", money, checks.currency));
  const suggestion = before.language ?? (console.canAsk ? locale : "en");
  const language = args.language ?? (await ask("Default language, such as en or pt-BR", suggestion, checks.language));
  return { title: given, currency: checks.currency(currency), language: checks.language(language) };
}

function askTitle(suggestion: string | undefined): Promise<string> {
  return askText("Name of the store", { suggestion, check: checks.title });
}

/** A namespace made from a title: `ada-s-mugs`, `groesse-oefen`. Empty for a title without a letter or digit of ASCII. */
export function suggestNamespace(title: string): string {
  const plain = slugFrom(title, "de").normalize("NFKD").replaceAll(/\p{M}/gu, "");
  const letters = spellPlainly(plain).replaceAll(/[^a-z0-9-]/g, "");
  return letters.replaceAll(/-{2,}/g, "-").replace(/^-+/, "").slice(0, 63).replace(/-+$/, "");
}

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

/** The first app key. `secretFile` is undefined where its secret is printed. `before` is suggested. */
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

export async function takePublicUrl(args: InitArgs, console: Console, { host, publicUrl }: Config, before?: string) {
  const isLocal = /^(?:127\.|::1$|localhost$)/.test(host);
  if (!console.canAsk || isLocal || publicUrl !== undefined) return args["public-url"];
  const check = (text: string) => readConfig({ "data-dir": "/dev/null", "public-url": text }, {});
  const question = { suggestion: before, optional: true, check };
  return (await askText("Public URL, such as https://shop.example.com (optional)", question)) || undefined;
}

type TestMail = Record<"dataDir" | "title" | "language", string> & { to: string | undefined };

/** The mail server of the flags, which a test mail has reached unless bodega.env has it already. Errors: those of that mail. */
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
