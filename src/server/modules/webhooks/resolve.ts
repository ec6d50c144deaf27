import type { Ctx } from "../../context.ts";
import { pick } from "../../db/selection.ts";
import { all, ofStore, statement } from "../../db/statement.ts";
import { ambiguousName, unknownName } from "../../values/unknown-name.ts";
import { webhooks } from "./table.ts";

const selectAll = statement((q) =>
  q
    .select(pick(webhooks, "id", "url"))
    .from(webhooks)
    .where(ofStore(webhooks))
    .orderBy(webhooks.id),
);

/** Finds a webhook by id or address. Errors: notFound with the most similar one, conflict for several. */
export async function resolveWebhookId(ctx: Ctx, idOrUrl: string): Promise<string> {
  const { id: tenantId, namespace } = ctx.tenant;
  const rows = await all(ctx.db, selectAll, { tenantId });
  const asked = canonicalUrl(idOrUrl);
  const found = rows.filter(({ id, url }) => id === idOrUrl || canonicalUrl(url) === asked).map(({ id }) => id);
  const [first, second] = found;
  if (first !== undefined && second === undefined) return first;
  if (first === undefined) {
    const urls = idOrUrl.startsWith("whk_") ? [] : rows.map(({ url }) => url);
    throw unknownName("webhook", idOrUrl, urls, namespace);
  }
  throw ambiguousName("webhooks", idOrUrl, namespace, found);
}

function canonicalUrl(url: string): string {
  return URL.canParse(url) ? new URL(url).href : url;
}
