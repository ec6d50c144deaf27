import MailComposer from "nodemailer/lib/mail-composer";
import SMTPConnection from "nodemailer/lib/smtp-connection";
import type { Ctx } from "../../context.ts";
import { AppError, invalidField, notFound, unavailable, wrongState } from "../../errors.ts";
import { parseEmail, parseFromAddress } from "../../values/email.ts";
import { newId } from "../../values/ids.ts";
import { recordAudit } from "../audit/service.ts";
import { composeMail } from "./compose.ts";
import { findRecipient } from "./recipient.ts";
import { type MailStore, renderMail } from "./render.ts";
import { type SmtpServer, secretsOf, smtpOptions } from "./smtp.ts";
import { readSmtpFailure } from "./smtp-failure.ts";

/** How a conversation with the mail server went. */
export interface MailTrial {
  to: string;
  from: string;
  host: string;
  port: number;
  /** Whether the mail went over TLS, with a certificate that was verified. */
  encrypted: boolean;
  /** Whether the server asked for the credentials, and took them. */
  authenticated: boolean;
  message_id: string;
  /** What the server said when it took the mail. */
  answer: string;
}

/**
 * Sends a test mail at once, past the outbox.
 * @throws wrongState without a mail server, or when it refuses the mail or the credentials; unavailable when it cannot be
 * reached; validationFailed when `to` is no address.
 */
export async function tryMail(
  ctx: Ctx,
  input: { to: string; language?: string | undefined; mailFrom: string | undefined; smtp: Partial<SmtpServer> },
): Promise<MailTrial> {
  const { email } = parseEmail("to", input.to);
  const { url } = input.smtp;
  if (url === undefined || input.mailFrom === undefined) {
    throw wrongState("There is no mail server: set BODEGA_SMTP_URL and BODEGA_MAIL_FROM for this command too.");
  }
  const found = await findRecipient(ctx.db, ctx.tenant.id, { email });
  if (!found) throw notFound("mail");
  const { store } = found;
  const details = { host: smtpOptions({ url }).host };
  try {
    const trial = await tryServer({
      ...input,
      mailFrom: input.mailFrom,
      smtp: { ...input.smtp, url },
      store,
      now: ctx.now,
    });
    await recordAudit(ctx, { event: "mail.tested", details });
    return trial;
  } catch (error) {
    if (error instanceof AppError && error.kind !== "validationFailed") {
      await recordAudit(ctx, { event: "mail.tested", error: error.kind, details });
    }
    throw error;
  }
}

/**
 * Sends a test mail of a store that there need not be yet.
 * @param input.store what the mail shows of it; `to` gets it.
 * @throws AppError as `tryMail`, but for a missing mail server.
 */
export async function tryServer(input: {
  to: string;
  language?: string | undefined;
  mailFrom: string;
  smtp: SmtpServer;
  store: MailStore;
  now: () => number;
}): Promise<MailTrial> {
  const { smtp, store, now } = input;
  const { email } = parseEmail("to", input.to);
  const from = parseFromAddress(input.mailFrom);
  if (from === null) throw invalidField("mail_from", "must be an address, such as shop@example.com");
  const rendered = renderMail({ kind: "test", store, name: null, languages: [input.language], values: {} });
  const message = composeMail({
    id: newId("mail"),
    from,
    store,
    to: { email, name: null },
    rendered,
    at: now(),
  });
  const options = smtpOptions(smtp);
  const { host, port } = options;
  const raw = await new MailComposer(message).compile().build();
  try {
    const outcome = await converse(options, { from: from.address, to: [email] }, raw);
    return { to: email, from: from.address, host, port, message_id: message.messageId as string, ...outcome };
  } catch (error) {
    const { isOutage, text } = readSmtpFailure(error, secretsOf(smtp.url));
    const isRefused = !isOutage || text.startsWith("EAUTH");
    throw (isRefused ? wrongState : unavailable)(`${host}:${port}: ${text}`);
  }
}

type Conversation = Pick<MailTrial, "encrypted" | "authenticated" | "answer">;

/** Holds one conversation from greeting to goodbye. */
function converse(
  options: ReturnType<typeof smtpOptions>,
  envelope: { from: string; to: string[] },
  message: Buffer,
): Promise<Conversation> {
  const { promise, resolve, reject } = Promise.withResolvers<Conversation>();
  const connection = new SMTPConnection(options);
  const close = (error: unknown) => {
    connection.close();
    reject(error);
  };
  connection.once("error", close);
  // What ended the connection is often told only after its end.
  connection.once("end", () => setTimeout(close, 50, Object.assign(new Error("ended"), { code: "ECONNECTION" })));

  function send(authenticated: boolean): void {
    connection.send(envelope, message, (error, info) => {
      if (error || !info) return close(error);
      resolve({ encrypted: connection.secure, authenticated, answer: info.response });
      connection.quit();
    });
  }

  connection.connect((error) => {
    if (error) return close(error);
    if (!options.auth || !connection.allowsAuth) return send(false);
    connection.login(options.auth, (refusal) => (refusal ? close(refusal) : send(true)));
  });
  return promise;
}
