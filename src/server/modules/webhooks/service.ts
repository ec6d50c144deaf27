import { createHmac, randomBytes } from "node:crypto";
import { and, type SQL, sql } from "drizzle-orm";
import { withTimeout } from "../../concurrency/with-timeout.ts";
import type { Ctx } from "../../context.ts";
import { jsonOf, pickStored } from "../../db/selection.ts";
import { all, byId, get, matches, ofStore, param, params, run, type Statement, statement } from "../../db/statement.ts";
import { inTransaction } from "../../db/transaction.ts";
import { hostOf, isPublicHost, type Lookup, RefusedAddress, resolveAddresses } from "../../delivery/outbound.ts";
import { invalidField, notFound, wrongState } from "../../errors.ts";
import { newId, toTimestamp } from "../../values/stamps.ts";
import { ambiguousName, unknownName } from "../../values/unknown-name.ts";
import { recordAudit } from "../audit/service.ts";
import { parsePatterns } from "../events/model.ts";
import { events } from "../events/table.ts";
import { webhookDeliveries, webhooks } from "./table.ts";

const maxWebhooks = 20;
const maxUrlLength = 2000;

const insertRow = statement(sql`
  insert into ${webhooks} (id, tenant_id, url, types, secret, allow_private, position, created_at)
  select ${param("id")}, ${param("tenantId")}, ${param("url")}, ${param("types")}, ${param("secret")},
    ${param("allowPrivate")}, coalesce((select max(sequence) from ${events} where tenant_id = ${param("tenantId")}), 0),
    ${param("now")}
  where (select count(*) from ${webhooks} where tenant_id = ${param("tenantId")}) < ${param("max")}`);
const shown = {
  ...{ webhook_id: webhooks.id, namespace: sql<string>`${param("namespace")}`, url: webhooks.url },
  // Event types and patterns such as `order.*`.
  types: jsonOf<string[]>(webhooks.types),
  ...pickStored(webhooks, "allowPrivate", "createdAt"),
};
const ofDeliveries = <T>(what: SQL, condition: SQL) =>
  sql<T>`(select ${what} from ${webhookDeliveries} d where d.webhook_id = ${webhooks.id} and ${condition})`;
const count = (status: string) => ofDeliveries<number>(sql`count(*)`, sql`d.status = ${sql.raw(`'${status}'`)}`);
const hasError = sql`d.last_error is not null order by d.event desc limit 1`;
const counted = {
  ...shown,
  ...{ waiting: count("waiting"), delivered: count("delivered"), failed: count("failed") },
  last_delivered_at: ofDeliveries<string | null>(sql`max(d.finished_at)`, sql`d.status = 'delivered'`),
  // The newest error of a waiting or failed delivery.
  last_error: ofDeliveries<string | null>(sql`d.last_error`, hasError),
};
const isAsked = and(ofStore(webhooks), matches(webhooks.id, "id"));
const selectWebhooks = statement((q) => q.select(counted).from(webhooks).where(isAsked).orderBy(webhooks.id));
const selectShown = statement((q) => q.select(shown).from(webhooks).where(isAsked).orderBy(webhooks.id));
const removeRow = statement((q) => q.delete(webhooks).where(byId(webhooks)));
const changeSecret = statement((q) => q.update(webhooks).set(params("secret")).where(byId(webhooks)));

interface WebhookInput {
  url: string;
  /** Event types or patterns; none means all events. */
  types?: readonly string[] | undefined;
  /** Allows addresses of this machine and of private networks, and http. */
  allowPrivate?: boolean | undefined;
}

/** Adds a webhook for future events. Errors: validationFailed; wrongState if the store already has twenty. */
export async function addWebhook(ctx: Ctx, input: WebhookInput, lookup?: Lookup) {
  const { allowPrivate = false } = input;
  const url = parseWebhookUrl(input.url, allowPrivate);
  const types = parsePatterns("types", input.types?.length ? input.types : ["*"]);
  // A name that does not resolve in three seconds is accepted, because it may resolve later.
  const resolving = allowPrivate ? undefined : withTimeout(resolveAddresses(new URL(url), false, lookup), 3000);
  await resolving?.catch((error: unknown) => {
    if (!(error instanceof RefusedAddress)) return;
    throw invalidField("url", `${error.message}. Add --allow-private to permit it`);
  });
  const id = newId("whk");
  const secret = newSigningSecret();
  return inTransaction(ctx, async (tx) => {
    const added = await run(tx.db, insertRow, {
      id,
      tenantId: ctx.tenant.id,
      url,
      types: JSON.stringify(types),
      secret: ctx.vault.seal("webhook", id, secret),
      allowPrivate: allowPrivate ? 1 : 0,
      now: toTimestamp(ctx.now()),
      max: maxWebhooks,
    });
    const full = `Store ${JSON.stringify(ctx.tenant.namespace)} already has ${maxWebhooks} webhooks, the maximum.`;
    if (added === 0) throw wrongState(`${full} Remove one first: bodega webhook remove`);
    // The audit log gets only the host, because a path can contain a secret.
    const details = { host: new URL(url).host, types };
    await recordAudit(tx, { event: "webhook.added", subject: id, details });
    return { ...(await getWebhook(tx, id)), secret };
  });
}

export function listWebhooks({ db, tenant }: Ctx) {
  return all(db, selectWebhooks, { tenantId: tenant.id, namespace: tenant.namespace, id: null });
}

export function getWebhookDetails(ctx: Ctx, id: string) {
  return find(ctx, selectWebhooks, id);
}

export function getWebhook(ctx: Ctx, id: string) {
  return find(ctx, selectShown, id);
}

async function find<Row>({ db, tenant }: Ctx, select: Statement<Row>, id: string) {
  const row = await get(db, select, { tenantId: tenant.id, namespace: tenant.namespace, id });
  if (!row) throw notFound("webhook", id, { in: `store ${JSON.stringify(tenant.namespace)}` });
  return row;
}

/** Removes a webhook and its deliveries. A running attempt may still arrive. Errors: notFound. */
export function removeWebhook(ctx: Ctx, id: string) {
  return inTransaction(ctx, async (tx) => {
    const record = await getWebhook(tx, id);
    await run(tx.db, removeRow, { tenantId: ctx.tenant.id, id });
    await recordAudit(tx, { event: "webhook.removed", subject: id, details: { host: new URL(record.url).host } });
    return record;
  });
}

/** Gives a webhook a new signing secret, which is shown once. All further attempts use it. Errors: notFound. */
export function rotateWebhook(ctx: Ctx, id: string) {
  const secret = newSigningSecret();
  return inTransaction(ctx, async (tx) => {
    const record = await getWebhook(tx, id);
    await run(tx.db, changeSecret, { tenantId: ctx.tenant.id, id, secret: ctx.vault.seal("webhook", id, secret) });
    await recordAudit(tx, { event: "webhook.rotated", subject: id });
    return { ...record, secret };
  });
}

export function parseWebhookUrl(given: string, allowPrivate: boolean): string {
  const url = given.length <= maxUrlLength && URL.canParse(given) ? new URL(given) : undefined;
  const isWeb = url?.protocol === "https:" || url?.protocol === "http:";
  if (!url || !isWeb) throw invalidField("url", `must be an address such as https://example.com/hooks`);
  if (url.protocol === "http:" && !allowPrivate) {
    throw invalidField("url", "must be an https address. --allow-private also permits http");
  }
  if (url.username !== "" || url.password !== "") throw invalidField("url", "must not contain a user name or password");
  if (url.hash !== "") throw invalidField("url", "must not contain #");
  // The addresses of a name are checked when the webhook is added, and at each attempt.
  if (!allowPrivate && !isPublicHost(hostOf(url))) {
    throw invalidField("url", `${hostOf(url)} is not a public address. Add --allow-private to permit it`);
  }
  return url.href;
}

const secretPrefix = "whsec_";

/** Returns a new signing secret (Standard Webhooks): `whsec_` and 256 random bits in base64. */
function newSigningSecret(): string {
  return `${secretPrefix}${randomBytes(32).toString("base64")}`;
}

/** Returns the headers that sign a message. `id` is the id of the event in every attempt; `at` is epoch milliseconds. */
export function signatureHeaders(secret: string, id: string, at: number, body: string): Record<string, string> {
  const timestamp = String(Math.floor(at / 1000));
  const key = Buffer.from(secret.slice(secretPrefix.length), "base64");
  const mac = createHmac("sha256", key).update(`${id}.${timestamp}.${body}`).digest("base64");
  return { "Webhook-Id": id, "Webhook-Timestamp": timestamp, "Webhook-Signature": `v1,${mac}` };
}

/** Finds a webhook by id or URL. Errors: notFound, which names a similar URL; conflict if several webhooks have the URL. */
export async function resolveWebhookId(ctx: Ctx, idOrUrl: string): Promise<string> {
  const { id: tenantId, namespace } = ctx.tenant;
  const rows = await all(ctx.db, selectShown, { tenantId, namespace, id: null });
  const asked = URL.parse(idOrUrl)?.href;
  const found = rows.filter((row) => row.webhook_id === idOrUrl || row.url === asked).map((row) => row.webhook_id);
  const [first, second] = found;
  if (first !== undefined && second === undefined) return first;
  if (first === undefined) {
    const urls = idOrUrl.startsWith("whk_") ? [] : rows.map(({ url }) => url);
    throw unknownName("webhook", idOrUrl, urls, namespace);
  }
  throw ambiguousName("webhooks", idOrUrl, namespace, found);
}
