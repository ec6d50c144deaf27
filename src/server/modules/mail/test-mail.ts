import MailComposer from "nodemailer/lib/mail-composer";
import type { Ctx } from "../../context.ts";
import { AppError, invalidField, notFound, wrongState } from "../../errors.ts";
import { parseEmail, parseFromAddress } from "../../values/email.ts";
import { newId } from "../../values/stamps.ts";
import { recordAudit } from "../audit/service.ts";
import { composeMail, findRecipient } from "./compose.ts";
import { type MailStore, renderMail } from "./render.ts";
import { runSmtpSession, type SmtpServer, smtpOptions } from "./smtp.ts";

export type TestMail = Awaited<ReturnType<typeof sendTestMail>>;

/**
 * Sends a test mail at once, without the outbox.
 * @throws wrongState without a mail server, or if it rejects mail or credentials; unavailable; validationFailed.
 */
export async function testMail(
  ctx: Ctx,
  input: { to: string; language?: string | undefined; mailFrom: string | undefined; smtp: Partial<SmtpServer> },
): Promise<TestMail> {
  const { email } = parseEmail("to", input.to);
  const { mailFrom, smtp } = input;
  const { url } = smtp;
  if (url === undefined || mailFrom === undefined) {
    throw wrongState("No mail server is configured. Set BODEGA_SMTP_URL and BODEGA_MAIL_FROM for this command.");
  }
  const found = await findRecipient(ctx.db, ctx.tenant.id, { email });
  if (!found) throw notFound("store", ctx.tenant.namespace);
  const details = { host: smtpOptions({ url }).host };
  try {
    const sent = await sendTestMail({ ...input, mailFrom, smtp: { ...smtp, url }, store: found.store, now: ctx.now });
    await recordAudit(ctx, { event: "mail.tested", details });
    return sent;
  } catch (error) {
    if (error instanceof AppError && error.kind !== "validationFailed") {
      await recordAudit(ctx, { event: "mail.tested", error: error.kind, details });
    }
    throw error;
  }
}

/** Sends a test mail of a store that need not exist yet. Errors: AppError as `testMail`. */
export async function sendTestMail(input: {
  to: string;
  language?: string | undefined;
  mailFrom: string;
  smtp: SmtpServer;
  store: MailStore;
  now: () => number;
}) {
  const { smtp, store, now } = input;
  const to = parseEmail("to", input.to).email;
  const from = parseFromAddress(input.mailFrom);
  if (from === null) throw invalidField("mail_from", "must be an address, such as shop@example.com");
  const rendered = renderMail({ kind: "test", store, name: null, languages: [input.language], values: {} });
  const id = newId("mail");
  const message = composeMail({ id, from, store, to: { email: to, name: null }, rendered, at: now() });
  const raw = await new MailComposer(message).compile().build();
  const { answer, ...session } = await runSmtpSession(smtp, { envelope: { from: from.address, to: [to] }, raw });
  return { to, from: from.address, ...session, message_id: message.messageId as string, answer };
}
