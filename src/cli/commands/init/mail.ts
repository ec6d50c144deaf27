import { readFileSync } from "node:fs";
import { readConfig } from "../../../server/config/config.ts";
import { readVariable } from "../../../server/config/environment.ts";
import { AppError, invalidField } from "../../../server/errors.ts";
import { parseFromAddress } from "../../../server/values/email.ts";
import type { ArgValues, CommandArgs } from "../../framework/args.ts";
import type { Console } from "../../terminal/console.ts";
import { info, warn } from "../../terminal/output.ts";
import { askHidden } from "../../terminal/prompt.ts";
import { UsageError } from "../../terminal/usage-error.ts";
import { askChoice, askText, askYesNo, introduce } from "./questions.ts";

export const mailFlags = {
  "smtp-url-file": {
    type: "string",
    valueHint: "path",
    completes: "file",
    description: "File with the URL of the mail server, such as smtps://user:password@mail.example.com",
  },
  "mail-from": {
    type: "string",
    valueHint: "address",
    configEnv: "BODEGA_MAIL_FROM",
    description: "Sender address of all mail",
  },
  mail: { type: "boolean", default: true, description: "Configure no mail server" },
  "mail-test": { type: "boolean", default: true, description: "Do not send a test mail" },
} as const satisfies CommandArgs;

type MailArgs = ArgValues<typeof mailFlags>;

interface MailServer {
  smtpUrl: string;
  mailFrom: string;
}

/** `isTested`: the server has accepted a test mail. */
export type MailAnswer = MailServer & { isTested: boolean };

/** The store that the test mail is about. `to` is its recipient; undefined sends it to the sender. */
interface TestMail {
  title: string;
  language: string;
  to: string | undefined;
}

const encryptions = {
  tls: { name: "TLS (port 465)", port: "465" },
  starttls: { name: "STARTTLS (port 587)", port: "587" },
  plain: { name: "none: a relay on this machine or network, without a login (port 25)", port: "25" },
} as const;

type Encryption = keyof typeof encryptions;

interface ServerAnswers {
  host: string;
  encryption: Encryption;
  port: string;
  user: string;
  password: string;
  from: string;
}

/** Whether --mail-from is missing for the server that --smtp-url-file names. */
export function lacksSender(args: MailArgs, console: Console): boolean {
  return args["smtp-url-file"] !== undefined && readSender(args, console) === undefined;
}

/**
 * The mail server, after it has accepted a test mail; null for none.
 * @throws unavailable or wrongState when it refuses the test mail and nobody can be asked what to do.
 */
export async function takeMail(args: MailArgs, console: Console, mail: TestMail): Promise<MailAnswer | null> {
  let server = readMailFlags(args, console);
  if (server === null) {
    if (!console.canAsk) return null;
    await introduce(console, "The store sends password resets and account notices by mail.");
    if (!(await askYesNo("Configure a mail server?", true))) return null;
  }
  let answers: ServerAnswers | undefined;
  for (;;) {
    if (server === null) {
      answers = await askServer(args, answers);
      server = toServer(answers);
    }
    if (!args["mail-test"]) return { ...server, isTested: false };
    try {
      await sendTestMail(server, mail, console);
      return { ...server, isTested: true };
    } catch (error) {
      if (!(error instanceof AppError) || !console.canAsk) throw error;
      await info(console, `Test mail failed: ${error.message}`);
    }
    const next = await askChoice("What next?", [
      { value: "again", name: "try again" },
      { value: "change", name: "change the settings" },
      { value: "keep", name: "keep these settings" },
      { value: "none", name: "continue without mail" },
    ]);
    if (next === "keep") return { ...server, isTested: false };
    if (next === "none") return null;
    if (next === "change") server = null;
  }
}

/**
 * The mail server that the flags name; null without --smtp-url-file.
 * @throws UsageError for a file that cannot be read, validationFailed for a wrong URL or sender.
 */
export function readMailFlags(args: MailArgs, console: Console): MailServer | null {
  const path = args["smtp-url-file"];
  if (path === undefined) return null;
  const mailFrom = readSender(args, console);
  const smtpUrl = readUrl(path);
  readConfig({ "data-dir": "/dev/null" }, { BODEGA_SMTP_URL: smtpUrl, BODEGA_MAIL_FROM: mailFrom });
  return { smtpUrl: encodeQuotes(smtpUrl), mailFrom: mailFrom as string };
}

function readSender(args: MailArgs, console: Console): string | undefined {
  return args["mail-from"] ?? readVariable(console.env, "BODEGA_MAIL_FROM");
}

function readUrl(path: string): string {
  let fault = "is empty";
  try {
    const text = readFileSync(path, "utf8").trim();
    if (text !== "") return text;
  } catch (error) {
    fault = `cannot be read (${(error as NodeJS.ErrnoException).code ?? "unknown"}): ${path}`;
  }
  throw new UsageError(`--smtp-url-file ${fault}.`, { details: [{ field: "--smtp-url-file", message: fault }] });
}

async function askServer(args: MailArgs, previous: ServerAnswers | undefined): Promise<ServerAnswers> {
  const host = await askText("SMTP host", { suggestion: previous?.host, check: checkHost });
  const choices = (Object.keys(encryptions) as Encryption[]).map((value) => ({ value, name: encryptions[value].name }));
  const encryption = await askChoice("Encryption", choices, previous?.encryption);
  const samePort = previous?.encryption === encryption ? previous.port : undefined;
  const port = await askText("Port", { suggestion: samePort ?? encryptions[encryption].port, check: checkPort });
  const user =
    encryption === "plain" ? "" : await askText("User (optional)", { optional: true, suggestion: previous?.user });
  const password = user === "" ? "" : await askHidden("Password");
  const from = await askText("Sender address, such as shop@example.com", {
    suggestion: args["mail-from"] ?? previous?.from ?? (user.includes("@") ? user : undefined),
    check: checkFrom,
  });
  return { host, encryption, port, user, password, from };
}

function toServer({ host, encryption, port, user, password, from }: ServerAnswers): MailServer {
  const encode = (text: string) => encodeQuotes(encodeURIComponent(text));
  const credentials = user === "" ? "" : `${encode(user)}:${encode(password)}@`;
  const address = `${bracket(host)}:${port}`;
  return { smtpUrl: `${encryption === "tls" ? "smtps" : "smtp"}://${credentials}${address}`, mailFrom: from };
}

/** A quote would end the quoted value in bodega.env. */
function encodeQuotes(text: string): string {
  return text.replaceAll("'", "%27");
}

function bracket(host: string): string {
  return host.includes(":") ? `[${host}]` : host;
}

function checkHost(host: string): void {
  if (!/^[^\s/@?#]+$/.test(host) || !URL.canParse(`http://${bracket(host)}`)) {
    throw invalidField("host", "must be a host name, such as mail.example.com");
  }
}

function checkPort(port: string): void {
  if (!/^\d{1,5}$/.test(port) || Number(port) < 1 || Number(port) > 65535) {
    throw invalidField("port", "must be a whole number from 1 to 65535");
  }
}

function checkFrom(from: string): void {
  if (parseFromAddress(from) === null) throw invalidField("mail_from", "must be an address, such as shop@example.com");
}

async function sendTestMail(server: MailServer, { title, language, to }: TestMail, console: Console): Promise<void> {
  const recipient = to ?? parseFromAddress(server.mailFrom)?.address ?? server.mailFrom;
  if (console.canAsk)
    await info(console, `Sending a test mail to ${recipient} through ${new URL(server.smtpUrl).host} …`);
  // Imported when needed, so that the help of init loads no mail library.
  const { sendTestMail: send } = await import("../../../server/modules/mail/test-mail.ts");
  const { answer, encrypted, authenticated, host } = await send({
    to: recipient,
    mailFrom: server.mailFrom,
    smtp: { url: server.smtpUrl },
    store: { title, language, domain: null, url: null, logo: null },
    now: Date.now,
  });
  if (console.canAsk) await info(console, `Test mail accepted: ${answer}`);
  if (encrypted || console.json) return;
  const credentials = authenticated ? ", and so did user and password" : "";
  await warn(console, `The test mail went to ${host} unencrypted${credentials}: the server offers no encryption.`);
}
