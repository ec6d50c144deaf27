import { readFileSync } from "node:fs";
import { readConfig } from "../../../server/config/config.ts";
import { readVariable } from "../../../server/config/environment.ts";
import { AppError, invalidField } from "../../../server/errors.ts";
import { tryServer } from "../../../server/modules/mail/trial.ts";
import { parseFromAddress } from "../../../server/values/email.ts";
import { UsageError } from "../../framework/usage-error.ts";
import type { Console } from "../../terminal/console.ts";
import { escapeControls } from "../../terminal/escape.ts";
import { warn } from "../../terminal/output.ts";
import { askHidden } from "../../terminal/prompt.ts";
import type { MailAnswer } from "./answers.ts";
import type { InitArgs } from "./flags.ts";
import { askChoice, askText, askYesNo, beginPart } from "./questions.ts";

/** What a test mail says of the store that is about to be made. */
export interface TrialStore {
  title: string;
  language: string;
  /** Whom the test mail goes to; undefined for the sender. */
  to: string | undefined;
}

export const smtpVariable = "BODEGA_SMTP_URL";

type Server = Omit<MailAnswer, "trial">;

/** How a mail server wants to be spoken to, and its usual port. */
const manners = {
  tls: { name: "TLS from the start (port 465)", port: "465" },
  starttls: { name: "STARTTLS (port 587)", port: "587" },
  plain: { name: "none needed: a relay of this machine or network, without a login (port 25)", port: "25" },
} as const;

type Manner = keyof typeof manners;

/** A mail server's address, in the parts that a person knows. */
interface Parts {
  manner: Manner;
  host: string;
  port: string;
  user: string;
  from: string;
}

/**
 * The mail server, tried at once; null where nobody wants one.
 * @throws unavailable or wrongState when it does not take the test mail and nobody can be asked what to do.
 */
export async function takeMail(args: InitArgs, console: Console, store: TrialStore): Promise<MailAnswer | null> {
  const given = readGiven(args, console);
  if (given !== null && !args["mail-test"]) return { ...given, trial: null };
  if (given !== null && !console.canAsk) return { ...given, trial: await tryMailServer(given, store, console) };
  if (!console.canAsk) return null;
  if (given === null) {
    await beginPart(console, "Mail carries password resets, and notices about accounts.");
    if (!(await askYesNo("Send mail through a mail server?", true))) return null;
  }
  let parts: Parts | undefined;
  let server = given;
  for (;;) {
    if (server === null) {
      const asked = await askServer(args, parts);
      parts = asked.parts;
      server = asked.server;
    }
    if (!args["mail-test"]) return { ...server, trial: null };
    await console.writeError(
      `Trying ${new URL(server.smtpUrl).host} with a mail to ${escapeControls(addressee(server, store))} …\n`,
    );
    try {
      const trial = await tryMailServer(server, store, console);
      await console.writeError(`It was taken: ${escapeControls(trial.answer)}\n`);
      return { ...server, trial };
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      await console.writeError(`It was not: ${escapeControls(error.message)}\n`);
    }
    const next = await askChoice("What now?", [
      { value: "again", name: "try again" },
      { value: "change", name: "change the answers" },
      { value: "keep", name: "go on with it as it is" },
      { value: "none", name: "go on without mail" },
    ]);
    if (next === "keep") return { ...server, trial: null };
    if (next === "none") return null;
    if (next === "change") server = null;
  }
}

/** The address in the file that the flags name, judged by the rules of the configuration; null without one. */
export function readGiven(args: InitArgs, console: Console): Server | null {
  const path = args["smtp-url-file"];
  if (path === undefined) return null;
  const mailFrom = args["mail-from"] ?? readVariable(console.env, "BODEGA_MAIL_FROM");
  const smtpUrl = readFile(path);
  readConfig({ dataDir: "/dev/null" }, { BODEGA_SMTP_URL: smtpUrl, BODEGA_MAIL_FROM: mailFrom });
  return { smtpUrl: smtpUrl.replaceAll("'", "%27"), mailFrom: mailFrom as string };
}

function readFile(path: string): string {
  let text: string;
  try {
    text = readFileSync(path, "utf8").trim();
  } catch (error) {
    const message = `cannot be read (${(error as NodeJS.ErrnoException).code ?? "unknown"}): ${path}`;
    throw new UsageError(`--smtp-url-file ${message}.`, { details: [{ field: "--smtp-url-file", message }] });
  }
  if (text !== "") return text;
  throw new UsageError("--smtp-url-file is empty.", { details: [{ field: "--smtp-url-file", message: "is empty" }] });
}

async function askServer(args: InitArgs, before: Parts | undefined): Promise<{ parts: Parts; server: Server }> {
  const host = await askText("Host of the mail server", { suggestion: before?.host, check: checkHost });
  const choices = (Object.keys(manners) as Manner[]).map((value) => ({ value, name: manners[value].name }));
  const manner = await askChoice("Encryption", choices, before?.manner);
  // The port before was that of another way to speak.
  const known = before?.manner === manner ? before.port : undefined;
  const port = await askText("Port", { suggestion: known ?? manners[manner].port, check: checkPort });
  const user =
    manner === "plain" ? "" : await askText("User (empty: none)", { optional: true, suggestion: before?.user });
  const password = user === "" ? "" : await askHidden("Password");
  const from = await askText("Sender of all mail, such as shop@example.com", {
    suggestion: args["mail-from"] ?? before?.from ?? (user.includes("@") ? user : undefined),
    check: checkFrom,
  });
  const credentials = user === "" ? "" : `${encodeText(user)}:${encodeText(password)}@`;
  const smtpUrl = `${manner === "tls" ? "smtps" : "smtp"}://${credentials}${host.includes(":") ? `[${host}]` : host}:${port}`;
  return { parts: { manner, host, port, user, from }, server: { smtpUrl, mailFrom: from } };
}

/** As a part of an address, and without what would end a quoted setting. */
function encodeText(text: string): string {
  return encodeURIComponent(text).replaceAll("'", "%27");
}

function checkHost(host: string): void {
  const name = host.includes(":") ? `[${host}]` : host;
  if (!/^[^\s/@?#]+$/.test(host) || !URL.canParse(`http://${name}`)) {
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

function addressee(server: Server, store: TrialStore): string {
  return store.to ?? parseFromAddress(server.mailFrom)?.address ?? server.mailFrom;
}

async function tryMailServer(
  server: Server,
  store: TrialStore,
  console: Console,
): Promise<NonNullable<MailAnswer["trial"]>> {
  const { title, language } = store;
  const { to, answer, encrypted, authenticated, host } = await tryServer({
    to: addressee(server, store),
    mailFrom: server.mailFrom,
    smtp: { url: server.smtpUrl },
    store: { title, language, domain: null, url: null, logo: null },
    now: Date.now,
  });
  if (!encrypted && !console.json) {
    const also = authenticated ? ", and so did user and password" : "";
    await warn(console, `The mail went to ${host} without encryption${also}: the server offers none.`);
  }
  return { to, answer, encrypted, authenticated };
}
