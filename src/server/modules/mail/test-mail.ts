import type { Ctx } from "../../context.ts";
import { AppError, invalidField, notFound, wrongState } from "../../errors.ts";
import { parseEmail, parseFromAddress } from "../../values/email.ts";
import { newId } from "../../values/stamps.ts";
import { recordAudit } from "../audit/service.ts";
import { composeMail, findRecipient } from "./compose.ts";
import { renderMail } from "./render.ts";
import { checkServer, type SmtpServer, smtpOptions, withTransport } from "./smtp.ts";

export type TestMail = Awaited<ReturnType<typeof testMail>>;

/**
 * Sends a test mail at once, without the outbox.
 * @throws wrongState if no mail server is set, or if it rejects mail or credentials; unavailable; validationFailed.
 */
export async function testMail(
  ctx: Ctx,
  input: { to: string; language?: string | undefined; mailFrom: string | undefined; smtp: Partial<SmtpServer> },
) {
  const { email: to } = parseEmail("to", input.to);
  const { url } = input.smtp;
  if (url === undefined || input.mailFrom === undefined) {
    throw wrongState("No mail server is configured. Set BODEGA_SMTP_URL and BODEGA_MAIL_FROM for this command.");
  }
  const found = await findRecipient(ctx.db, ctx.tenant.id, "test", { email: to });
  if (!found) throw notFound("store", ctx.tenant.namespace);
  const from = parseFromAddress(input.mailFrom);
  if (from === null) throw invalidField("mail_from", "must be an address, such as shop@example.com");
  const { store } = found;
  const rendered = renderMail({ kind: "test", store, name: null, languages: [input.language], values: {} });
  const recipient = { email: to, name: null };
  const message = composeMail({ id: newId("mail"), from, store, to: recipient, rendered, at: ctx.now() });
  const smtp = { ...input.smtp, url };
  const { host, port } = smtpOptions(smtp);
  const details = { host };
  try {
    const encrypted = await checkServer(smtp);
    const { response: answer } = await withTransport(smtp, (transport) => transport.sendMail(message));
    await recordAudit(ctx, { event: "mail.tested", details });
    return { to, from: from.address, host, port, encrypted, message_id: message.messageId as string, answer };
  } catch (error) {
    if (error instanceof AppError) await recordAudit(ctx, { event: "mail.tested", error: error.kind, details });
    throw error;
  }
}
