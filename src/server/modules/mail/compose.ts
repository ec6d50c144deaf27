import type { SendMailOptions } from "nodemailer";
import type { FromAddress } from "../../values/email.ts";
import { type MailStore, oneLine, type RenderedMail } from "./render.ts";

/** Somebody that a mail goes to. */
export interface Addressee {
  email: string;
  name: string | null;
}

/**
 * A mail as the SMTP library takes it. Addresses are given in their parts, and the envelope by itself, so that nothing
 * in a name or title can become an address or a header.
 * @param id of the mail; the Message-ID is made of it, so that a mail that arrives twice can be told to be one.
 * @param at epoch milliseconds.
 */
export function composeMail(
  id: string,
  from: FromAddress,
  store: MailStore,
  to: Addressee,
  mail: RenderedMail,
  at: number,
): SendMailOptions {
  return {
    from: { name: oneLine(store.title) || from.name, address: from.address },
    to: { name: oneLine(to.name ?? ""), address: to.email },
    envelope: { from: from.address, to: [to.email] },
    messageId: `<${id}@${from.domain}>`,
    date: new Date(at),
    subject: mail.subject,
    text: mail.text,
    html: mail.html,
    headers: { "Content-Language": mail.language, "Auto-Submitted": "auto-generated" },
    disableFileAccess: true,
    disableUrlAccess: true,
  };
}
