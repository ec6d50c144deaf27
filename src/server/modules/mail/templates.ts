import { and } from "drizzle-orm";
import type { Ctx } from "../../context.ts";
import { pick } from "../../db/selection.ts";
import { all, equals, ofStore, param, params, run, statement } from "../../db/statement.ts";
import { inTransaction } from "../../db/transaction.ts";
import { forbidden, invalidField } from "../../errors.ts";
import { checkNote, requireText } from "../../values/fields.ts";
import { toTimestamp } from "../../values/stamps.ts";
import { recordAudit } from "../audit/service.ts";
import { type MailKind, mailKinds, textKinds } from "./kinds.ts";
import { mailTexts } from "./table.ts";
import { type MailText, mailTemplates } from "./texts.ts";

type TemplateName = { kind: MailKind; language?: string | undefined };

type MailTemplate = Awaited<ReturnType<typeof listTemplates>>[number];

const shown = pick(mailTexts, "kind", "language", "text");
const selectTexts = statement((q) => q.select(shown).from(mailTexts).where(ofStore(mailTexts)));
const isNamed = and(ofStore(mailTexts), equals(mailTexts.kind, "kind"), equals(mailTexts.language, "language"));
const removeText = statement((q) => q.delete(mailTexts).where(isNamed));
const upsertText = statement((q) => {
  const { tenantId, kind, language } = mailTexts;
  const now = { text: param("text"), updatedAt: param("now") };
  const inserted = q.insert(mailTexts).values({ ...params("tenantId", "kind", "language"), ...now });
  return inserted.onConflictDoUpdate({ target: [tenantId, kind, language], set: now });
});

function placeholdersOf(kind: MailKind): string[] {
  const names: readonly string[] = mailKinds[kind];
  const prefix = names.includes("number") ? "order." : "";
  return [...names.map((name) => `{${prefix}${name}}`), "{store}", "{name}"];
}

/** Returns the texts of mails in a language. `is_own` says whether the store has replaced the built-in ones. */
export async function listTemplates(ctx: Ctx, named?: string) {
  const rows = await all(ctx.db, selectTexts, { tenantId: ctx.tenant.id });
  const language = named ?? (ctx.tenant.language in mailTemplates ? ctx.tenant.language : "en");
  const templates = Object.hasOwn(mailTemplates, language) ? mailTemplates[language] : undefined;
  if (!templates) throw invalidField("language", `must be one of ${Object.keys(mailTemplates).join(", ")}`);
  return textKinds.map((kind) => {
    const row = rows.find((one) => one.kind === kind && one.language === language);
    const text: MailText = row ? JSON.parse(row.text) : templates[kind];
    const { subject, heading = null, paragraphs } = text;
    const is_own = row !== undefined;
    return { kind, language, is_own, subject, heading, paragraphs, placeholders: placeholdersOf(kind) };
  });
}

export async function getTemplate(ctx: Ctx, { kind, language }: TemplateName): Promise<MailTemplate> {
  return (await listTemplates(ctx, language)).find((one) => one.kind === kind) as MailTemplate;
}

/**
 * Replaces the given texts of a kind of mail in a language. Errors: forbidden for staff who are no owners;
 * validationFailed for an unknown placeholder, and for a text without the code or link that its kind needs.
 */
export function setTemplate(
  ctx: Ctx,
  name: TemplateName,
  given: { [Name in keyof MailText]?: MailText[Name] | undefined },
): Promise<MailTemplate> {
  return inTransaction(ctx, async (tx) => {
    requireOwner(tx);
    const before = await getTemplate(tx, name);
    const { placeholders: known } = before;
    const { subject = before.subject, heading = before.heading, paragraphs = before.paragraphs } = given;
    requireText("subject", subject, 200);
    if (heading !== null) requireText("heading", heading, 200);
    if (paragraphs.length > 30) throw invalidField("paragraphs", "must be at most 30");
    for (const text of paragraphs) checkNote("paragraphs", text, 2000);
    for (const [field, texts] of Object.entries({ subject: [subject], heading: [heading ?? ""], paragraphs })) {
      const unknown = texts.flatMap((text) => text.match(/\{[^{}]*\}/g) ?? []).find((name) => !known.includes(name));
      if (unknown !== undefined) throw invalidField(field, `must not contain ${unknown}. Known: ${known.join(" ")}`);
    }
    const needed = known.find((one) => one === "{code}" || (name.kind === "order_link" && one === "{order.link}"));
    if (needed !== undefined && !paragraphs.includes(needed)) {
      throw invalidField("paragraphs", `must contain ${needed} as a paragraph of its own`);
    }
    const text = JSON.stringify({ subject, heading, paragraphs });
    await run(tx.db, upsertText, { ...before, tenantId: tx.tenant.id, text, now: toTimestamp(tx.now()) });
    return record(tx, before);
  });
}

/** Deletes a store's own texts for a kind of mail and language, so that the built-in ones are used again. */
export function resetTemplate(ctx: Ctx, name: TemplateName): Promise<MailTemplate> {
  return inTransaction(ctx, async (tx) => {
    const before = await getTemplate(tx, name);
    await run(tx.db, removeText, { ...before, tenantId: tx.tenant.id });
    return record(tx, before);
  });
}

function requireOwner({ actor }: Ctx): void {
  if (actor.kind === "user" && actor.role !== "owner") throw forbidden("Only owners may change the texts of mails.");
}

async function record(tx: Ctx, { kind, language }: MailTemplate): Promise<MailTemplate> {
  await recordAudit(tx, { event: "mail.text_changed", namespace: tx.tenant.namespace, details: { kind, language } });
  return getTemplate(tx, { kind, language });
}
