import { sql } from "drizzle-orm";
import type { Ctx } from "../../context.ts";
import { build } from "../../db/build.ts";
import { param, run, statement } from "../../db/statement.ts";
import { inTransaction } from "../../db/transaction.ts";
import type { Vault } from "../../security/vault.ts";
import { newId } from "../../values/ids.ts";
import { toTimestamp } from "../../values/timestamp.ts";
import { type MailKind, mailKinds } from "./kinds.ts";
import { mailOutbox } from "./table.ts";

/** After a long outage customers must not receive old mail. */
const usefulMs = 7 * 86_400_000;

const insertMail = statement(
  build.insert(mailOutbox).values({
    id: param("id"),
    tenantId: param("tenantId"),
    kind: param("kind"),
    subjectKey: param("subjectKey"),
    sealed: param("sealed"),
    status: "queued",
    nextAttemptAt: param("now"),
    usefulUntil: param("usefulUntil"),
    createdAt: param("now"),
    updatedAt: param("now"),
  }),
);
const expireReplaced = statement(sql`
  update ${mailOutbox} set status = 'expired', sealed = null, updated_at = ${param("now")}
  where tenant_id = ${param("tenantId")} and subject_key = ${param("subjectKey")} and status = 'queued'`);

/**
 * The active user who has this address when the mail is sent, if there is one; the sign-up that waits for it, or a user
 * who has it then and gets an `account_exists` mail instead; or a fixed address.
 */
export type MailRecipient =
  | { emailKey: string }
  | { signUpKey: string }
  | { email: string; name?: string | null | undefined; lang?: string | null | undefined };

/** The sealed contents of a row. */
export interface MailContents {
  to: MailRecipient;
  /** BCP 47 tag of the request. */
  language?: string | undefined;
  values: Record<string, string>;
}

/**
 * Puts a mail into the outbox, from which a server sends it. Queueing takes the same time whether or not a user has the
 * address, because the user is looked up when it is sent.
 * @param mail `usefulUntil` in epoch milliseconds: it expires then, after a week unless given. `replaces`: waiting mail
 * of this kind with the same value is cancelled in the same transaction; mail that is being sent may still arrive.
 * @returns its id.
 */
export async function queueMail(
  ctx: Ctx,
  mail: MailContents & { kind: MailKind; usefulUntil?: number | undefined; replaces?: string | undefined },
): Promise<string> {
  const missing = mailKinds[mail.kind].find((name) => mail.values[name] === undefined);
  if (missing !== undefined) throw new TypeError(`A ${mail.kind} mail needs a value for ${missing}.`);
  const id = newId("mail");
  const { to, language, values, kind, replaces } = mail;
  const tenantId = ctx.tenant.id;
  const now = toTimestamp(ctx.now());
  // Keyed, so that the database does not reveal the recipient.
  const subjectKey = replaces === undefined ? null : ctx.vault.mac("mail", `${tenantId}:${kind}:${replaces}`);
  await inTransaction(ctx, async ({ db }) => {
    if (subjectKey !== null) await run(db, expireReplaced, { tenantId, subjectKey, now });
    await run(db, insertMail, {
      id,
      tenantId,
      kind,
      subjectKey,
      sealed: sealContents(ctx.vault, id, { to, language, values }),
      usefulUntil: toTimestamp(mail.usefulUntil ?? ctx.now() + usefulMs),
      now,
    });
  });
  return id;
}

export function sealContents(vault: Vault, id: string, contents: MailContents): string {
  return vault.seal("mail", id, JSON.stringify(contents));
}

/** The recipient's address; that of a user is in the form that it is looked up by. */
export function addressIn({ to }: MailContents): string {
  if ("signUpKey" in to) return to.signUpKey;
  return "email" in to ? to.email : to.emailKey;
}

/** `ada@example.com` as `a…@example.com`. */
export function maskAddress(address: string): string {
  const [first = ""] = address;
  return `${first}…${address.slice(address.lastIndexOf("@"))}`;
}

/** The contents of a row; null if they were sealed with another key. */
export function openContents(vault: Vault, id: string, sealed: string): MailContents | null {
  const text = vault.open("mail", id, sealed);
  return text === null ? null : (JSON.parse(text) as MailContents);
}
