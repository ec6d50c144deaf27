import type { SendMailOptions } from "nodemailer";
import type { FromAddress } from "../../values/email.ts";
import { type MailStore, oneLine, type RenderedMail } from "./render.ts";

/** The recipient of a mail. */
export interface Addressee {
  email: string;
  name: string | null;
}

/**
 * A mail as the SMTP library takes it. Addresses are given in their parts, and the envelope by itself, so that nothing
 * in a name or title can become an address or a header.
 * @param mail id: the Message-ID is made of it, so that a mail that arrives twice can be recognised; at: epoch milliseconds.
 */
export function composeMail(mail: {
  id: string;
  from: FromAddress;
  store: MailStore;
  to: Addressee;
  rendered: RenderedMail;
  at: number;
}): SendMailOptions {
  const { id, from, store, to, rendered, at } = mail;
  return {
    from: { name: oneLine(store.title) || from.name, address: from.address },
    to: { name: oneLine(to.name ?? ""), address: to.email },
    envelope: { from: from.address, to: [to.email] },
    messageId: `<${id}@${from.domain}>`,
    date: new Date(at),
    subject: rendered.subject,
    text: rendered.text,
    html: rendered.html,
    headers: { "Content-Language": rendered.language, "Auto-Submitted": "auto-generated" },
    disableFileAccess: true,
    disableUrlAccess: true,
  };
}
