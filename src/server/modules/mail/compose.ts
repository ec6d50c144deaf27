import { and, eq, sql } from "drizzle-orm";
import type { SendMailOptions } from "nodemailer";
import { pick } from "../../db/selection.ts";
import type { Executor } from "../../db/session.ts";
import { all, equals, get, ofStore, param, statement } from "../../db/statement.ts";
import type { FromAddress } from "../../values/email.ts";
import { signUps } from "../sign-up/table.ts";
import { tenants } from "../tenants/table.ts";
import { users } from "../users/table.ts";
import { greetingName, type MailStore, oneLine } from "./content.ts";
import type { AnyMailKind } from "./kinds.ts";
import type { MailRecipient } from "./outbox.ts";
import type { renderMail } from "./render.ts";
import { mailTexts } from "./table.ts";
import type { MailText } from "./texts.ts";

const found = {
  ...pick(tenants, "namespace", "title", "domain", "url", "logo", "language", "legalUrls", "mailsOff"),
  ...pick(users, "email", "name", "lang", "role", "status"),
  ...{ newEmail: signUps.email, newName: signUps.name, newLang: signUps.lang },
};
const isUser = and(eq(users.tenantId, tenants.id), equals(users.emailKey, "emailKey"));
const isSignUp = sql`${signUps.tenantId} = ${tenants.id} and ${equals(signUps.emailKey, "signUpKey")}
  and ${signUps.client} = coalesce(${param("client")}, ${signUps.client})`;
const selectStore = statement((q) => {
  const joined = q.select(found).from(tenants).leftJoin(users, isUser).leftJoin(signUps, isSignUp);
  return joined.where(equals(tenants.id, "tenantId")).limit(1);
});
const ownText = pick(mailTexts, "language", "text");
const isOfKind = and(ofStore(mailTexts), equals(mailTexts.kind, "kind"));
const selectTexts = statement((q) => q.select(ownText).from(mailTexts).where(isOfKind));

/**
 * Builds a mail for nodemailer. Name, address and envelope are separate fields, so that no name can add a header.
 * @param mail id: part of the Message-ID, so that duplicates can be recognised; at: epoch milliseconds.
 */
export function composeMail(mail: {
  id: string;
  from: FromAddress;
  store: MailStore;
  to: { email: string; name: string | null };
  rendered: ReturnType<typeof renderMail>;
  at: number;
  thread?: string | undefined;
}): SendMailOptions {
  const { id, from, store, to, rendered, at, thread } = mail;
  return {
    from: { name: oneLine(store.title) || from.name, address: from.address },
    to: { name: greetingName(to.name), address: to.email },
    envelope: { from: from.address, to: [to.email] },
    messageId: `<${id}@${from.domain}>`,
    // All mails of a thread refer to this id, which no mail has. Mail programs therefore show them together.
    ...(thread !== undefined && { references: `<${thread}@${from.domain}>` }),
    date: new Date(at),
    subject: rendered.subject,
    text: rendered.text,
    html: rendered.html,
    headers: { "Content-Language": rendered.language, "Auto-Submitted": "auto-generated" },
  };
}

/**
 * Returns the store, the recipient and the kind of a mail; undefined if the store was deleted. `to` is null if neither an
 * active user nor a sign-up has the address, or if the store has switched off this kind of mail.
 */
export async function findRecipient(db: Executor, tenantId: string, given: AnyMailKind, to: MailRecipient) {
  const found = await findStore(db, tenantId, to);
  if (!found) return undefined;
  const { kind = given, store, ...rest } = found;
  const rows = await all(db, selectTexts, { tenantId, kind });
  const texts = Object.fromEntries(rows.map(({ language, text }) => [language, JSON.parse(text) as MailText]));
  const isOff = (JSON.parse(store.mailsOff) as string[]).includes(kind);
  return { kind, store: { ...store, texts }, to: isOff ? null : rest.to };
}

async function findStore(db: Executor, tenantId: string, to: MailRecipient) {
  const signUpKey = "signUpKey" in to ? to.signUpKey : null;
  const client = "signUpKey" in to ? (to.client ?? null) : null;
  const emailKey = "emailKey" in to ? to.emailKey : signUpKey;
  const row = await get(db, selectStore, { tenantId, signUpKey, client, emailKey });
  if (!row) return undefined;
  const { email, name, lang, role, status, newEmail, newName, newLang, ...store } = row;
  if ("email" in to)
    return { store, to: { email: to.email, name: to.name ?? null, lang: to.lang ?? null, role: null } };
  const isOther = "role" in to && role !== to.role;
  const user = email === null || status !== "active" || isOther ? null : { email, name, lang, role };
  if (signUpKey === null) return { store, to: user };
  if (email !== null) return { store, to: user, kind: "account_exists" as const };
  return { store, to: newEmail === null ? null : { email: newEmail, name: newName, lang: newLang, role: null } };
}

/** Returns the back-office page that a mail to staff links to. Empty for other mail, and if the server's URL is unknown. */
export function backOfficeLink(
  base: string | undefined,
  { kind, store: { namespace }, to }: NonNullable<Awaited<ReturnType<typeof findRecipient>>>,
  values: Record<string, string>,
): string {
  if (base === undefined) return "";
  const start = `${base}/back-office/?${new URLSearchParams({ store: namespace })}#/`;
  const isStaff = to?.role === "staff" || to?.role === "owner";
  // Browsers do not send the part after the # to a server, so the code does not get into logs.
  if (isStaff && ["invitation", "reset_code"].includes(kind))
    return `${start}reset?${new URLSearchParams({ email: to.email, code: values.code ?? "" })}`;
  if (kind === "low_stock" || values.reason === "unknown_withdrawal") return start;
  return ["new_order", "needs_attention"].includes(kind) ? `${start}orders?q=${values.number}` : "";
}
