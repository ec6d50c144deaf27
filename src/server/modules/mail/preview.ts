import { desc, eq, sql } from "drizzle-orm";
import type { Ctx } from "../../context.ts";
import { pick } from "../../db/selection.ts";
import { all, ofStore, statement } from "../../db/statement.ts";
import { backOfficeLink, findRecipient } from "./compose.ts";
import { addressIn, openContents } from "./outbox.ts";
import { renderMail } from "./render.ts";
import { mailOutbox } from "./table.ts";

const shown = pick(mailOutbox, "id", "kind", "sealed", "createdAt");
const isWaiting = sql`${ofStore(mailOutbox)} and ${eq(mailOutbox.status, "waiting")}`;
const selectWaiting = statement((q) =>
  q.select(shown).from(mailOutbox).where(isWaiting).orderBy(desc(mailOutbox.createdAt), desc(mailOutbox.id)).limit(100),
);

/** Renders the newest hundred mails of a store that wait to be sent, newest first. `url` is the server's address. */
export async function previewMails(ctx: Ctx, url: string) {
  const mails = [];
  for (const { id, kind: queued, sealed, createdAt } of await all(ctx.db, selectWaiting, { tenantId: ctx.tenant.id })) {
    const contents = sealed === null ? null : openContents(ctx.vault, id, sealed);
    const found = contents && (await findRecipient(ctx.db, ctx.tenant.id, queued, contents.to));
    if (!contents || !found?.to) continue;
    const { store, to, kind } = found;
    const { language, order } = contents;
    const values = { ...contents.values, back_office: backOfficeLink(url, found, contents.values) };
    const rendered = renderMail({ kind, store, name: to.name, languages: [language, to.lang], values, order });
    mails.push({ id, kind, to: addressIn(contents), created_at: createdAt, ...rendered });
  }
  return mails;
}
