import { sql } from "drizzle-orm";
import type { SendMailOptions } from "nodemailer";
import type { Executor } from "../../db/session.ts";
import { get, param, statement } from "../../db/statement.ts";
import type { FromAddress } from "../../values/email.ts";
import { tenants } from "../tenants/table.ts";
import { users } from "../users/table.ts";
import type { MailRecipient } from "./outbox.ts";
import { type MailStore, oneLine, type RenderedMail } from "./render.ts";

const selectStore = statement<MailStore & { email: string | null; name: string | null; lang: string | null }>(sql`
  select t.title, t.domain, t.url, t.logo, t.language, u.email, u.name, u.lang
  from ${tenants} t left join ${users} u
    on u.tenant_id = t.id and u.email_key = ${param("emailKey")} and u.status = 'active'
  where t.id = ${param("tenantId")}`);

export interface Addressee {
  email: string;
  name: string | null;
}

/**
 * Makes a mail for the SMTP library. Name and address are separate fields, as is the envelope, so that a name or title
 * cannot add an address or a header.
 * @param mail id: part of the Message-ID, so that a mail that arrives twice can be recognised; at: epoch milliseconds.
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

/** The store of a mail, and its recipient; null if no active user has the address. */
export async function findRecipient(db: Executor, tenantId: string, to: MailRecipient) {
  const row = await get(db, selectStore, { tenantId, emailKey: "emailKey" in to ? to.emailKey : null });
  if (!row) return undefined;
  const { email, name, lang, ...store } = row;
  if ("email" in to) return { store, to: { email: to.email, name: to.name ?? null, lang: to.lang ?? null } };
  return { store, to: email === null ? null : { email, name, lang } };
}
