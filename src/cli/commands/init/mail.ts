import { readConfig } from "../../../server/config/config.ts";
import { integer } from "../../../server/config/environment.ts";
import { AppError, invalidField } from "../../../server/errors.ts";
import { parseFromAddress } from "../../../server/values/email.ts";
import { readSecretFile } from "../../secrets/passwords.ts";
import type { Console } from "../../terminal/console.ts";
import { info, warn } from "../../terminal/output.ts";
import { askChoice, askHidden, askText, askYesNo, introduce } from "../../terminal/prompt.ts";
import { type InitArgs, readSender } from "./flags.ts";

interface MailServer {
  smtpUrl: string;
  mailFrom: string;
}

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

/** Typed answers about a mail server, which are suggested when it refuses the test mail. */
interface ServerAnswers extends MailServer {
  host: string;
  encryption: Encryption;
  port: string;
  user: string;
}

/** The mail server, and whether it has accepted a test mail; null for none. Errors: those of the test mail. */
export async function takeMail(args: InitArgs, console: Console, mail: TestMail) {
  const given = readMailFlags(args, console);
  if (given === null) {
    if (!console.canAsk) return null;
    await introduce(console, "The store sends password resets and account notices by mail.");
    if (!(await askYesNo("Configure a mail server?", true))) return null;
  }
  let answers = given === null ? await askServer(args) : undefined;
  for (;;) {
    const { smtpUrl, mailFrom } = answers ?? (given as MailServer);
    const isTested = args["mail-test"] && (await sendTestMail({ smtpUrl, mailFrom }, mail, console));
    if (isTested || !args["mail-test"]) return { smtpUrl, mailFrom, isTested };
    const next = await askChoice("What next?", [
      { value: "again", name: "try again" },
      { value: "change", name: "change the settings" },
      { value: "keep", name: "keep these settings" },
      { value: "none", name: "continue without mail" },
    ]);
    if (next === "keep") return { smtpUrl, mailFrom, isTested };
    if (next === "none") return null;
    if (next === "change") answers = await askServer(args, answers);
  }
}

/** The mail server that the flags name; null without --smtp-url-file. Errors: UsageError, validationFailed. */
export function readMailFlags(args: InitArgs, console: Console): MailServer | null {
  const path = args["smtp-url-file"];
  if (path === undefined) return null;
  const mailFrom = readSender(args, console) as string;
  const smtpUrl = readSecretFile(path, "--smtp-url-file").trim();
  readConfig({ "data-dir": "/dev/null" }, { BODEGA_SMTP_URL: smtpUrl, BODEGA_MAIL_FROM: mailFrom });
  return { smtpUrl: encodeQuotes(smtpUrl), mailFrom };
}

async function askServer(args: InitArgs, previous?: ServerAnswers): Promise<ServerAnswers> {
  const bracket = (host: string) => (host.includes(":") ? `[${host}]` : host);
  const checkHost = (text: string) => {
    if (/^[^\s/@?#]+$/.test(text) && URL.canParse(`http://${bracket(text)}`)) return;
    throw invalidField("host", "must be a host name, such as mail.example.com");
  };
  const checkPort = (text: string) => integer({ value: text, source: "port" }, 1, 65_535);
  const checkFrom = (text: string) => readConfig({ "data-dir": "/dev/null" }, { BODEGA_MAIL_FROM: text });
  const host = await askText("SMTP host", { suggestion: previous?.host, check: checkHost });
  const choices = (Object.keys(encryptions) as Encryption[]).map((value) => ({ value, name: encryptions[value].name }));
  const encryption = await askChoice("Encryption", choices, previous?.encryption);
  const samePort = previous?.encryption === encryption ? previous.port : undefined;
  const port = await askText("Port", { suggestion: samePort ?? encryptions[encryption].port, check: checkPort });
  const user =
    encryption === "plain" ? "" : await askText("User (optional)", { optional: true, suggestion: previous?.user });
  const credentials = user === "" ? "" : `${encode(user)}:${encode(await askHidden("Password"))}@`;
  const mailFrom = await askText("Sender address, such as shop@example.com", {
    suggestion: args["mail-from"] ?? previous?.mailFrom ?? (user.includes("@") ? user : undefined),
    check: checkFrom,
  });
  const smtpUrl = `${encryption === "tls" ? "smtps" : "smtp"}://${credentials}${bracket(host)}:${port}`;
  return { host, encryption, port, user, smtpUrl, mailFrom };
}

function encode(text: string): string {
  return encodeQuotes(encodeURIComponent(text));
}

/** A quote would end the quoted value in bodega.env. */
function encodeQuotes(text: string): string {
  return text.replaceAll("'", "%27");
}

/** Whether the server accepts a test mail. At a terminal, a refusal is printed; elsewhere it is thrown. */
async function sendTestMail(server: MailServer, mail: TestMail, console: Console): Promise<boolean> {
  const { smtpUrl, mailFrom } = server;
  const { title, language, to = parseFromAddress(mailFrom)?.address ?? mailFrom } = mail;
  if (console.canAsk) await info(console, `Sending a test mail to ${to} through ${new URL(smtpUrl).host} …`);
  // Imported when needed, so that the help of init loads no mail library.
  const { sendTestMail: send } = await import("../../../server/modules/mail/test-mail.ts");
  const store = { title, language, domain: null, url: null, logo: null };
  try {
    const sent = await send({ to, mailFrom, smtp: { url: smtpUrl }, store, now: Date.now });
    if (console.canAsk) await info(console, `Test mail accepted: ${sent.answer}`);
    if (sent.encrypted || console.json) return true;
    const credentials = sent.authenticated ? ", and so did user and password" : "";
    await warn(
      console,
      `The test mail went to ${sent.host} unencrypted${credentials}: the server offers no encryption.`,
    );
    return true;
  } catch (error) {
    if (!(error instanceof AppError) || !console.canAsk) throw error;
    await info(console, `Test mail failed: ${error.message}`);
    return false;
  }
}
