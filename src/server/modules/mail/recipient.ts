import { sql } from "drizzle-orm";
import type { Executor } from "../../db/session.ts";
import { get, param, statement } from "../../db/statement.ts";
import { tenants } from "../tenants/table.ts";
import { users } from "../users/table.ts";
import type { Addressee } from "./compose.ts";
import type { MailRecipient } from "./outbox.ts";
import type { MailStore } from "./render.ts";

const selectStore = statement<MailStore & { email: string | null; name: string | null; lang: string | null }>(sql`
  select t.title, t.domain, t.url, t.logo, t.language, u.email, u.name, u.lang
  from ${tenants} t left join ${users} u
    on u.tenant_id = t.id and u.email_key = ${param("emailKey")} and u.status = 'active'
  where t.id = ${param("tenantId")}`);

/** The recipient of a mail, and the language of their account. */
export type Recipient = Addressee & { lang: string | null };

/** The store of a mail, and its recipient; null if no active user has the address. */
export async function findRecipient(
  db: Executor,
  tenantId: string,
  to: MailRecipient,
): Promise<{ store: MailStore; to: Recipient | null } | undefined> {
  const row = await get(db, selectStore, { tenantId, emailKey: "emailKey" in to ? to.emailKey : null });
  if (!row) return undefined;
  const { email, name, lang, ...store } = row;
  if ("email" in to) return { store, to: { email: to.email, name: to.name ?? null, lang: to.lang ?? null } };
  return { store, to: email === null ? null : { email, name, lang } };
}
