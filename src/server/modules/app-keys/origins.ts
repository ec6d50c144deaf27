import { and, eq, sql } from "drizzle-orm";
import type { SystemCtx } from "../../context.ts";
import { param, params, run, statement } from "../../db/statement.ts";
import { inTransaction } from "../../db/transaction.ts";
import { invalidField, notFound } from "../../errors.ts";
import { quoteWord } from "../../values/shell-quote.ts";
import { toTimestamp } from "../../values/stamps.ts";
import { recordAudit } from "../audit/service.ts";
import { matchOrigin, parseOrigin, parseOriginPattern } from "./origin-pattern.ts";
import { type AppKeyDetails, getKey, issueKey, keyRevoked, requireKey, withSecret } from "./service.ts";
import { appKeyOrigins, appKeys } from "./table.ts";

const maxOrigins = 200;

const newOrigin = params("tenantId", "appId", "pattern", "createdAt");
const insertOrigin = statement((q) => q.insert(appKeyOrigins).values(newOrigin).onConflictDoNothing());
const isOfKey = eq(appKeyOrigins.appId, param("appId"));
const isOrigin = and(isOfKey, eq(appKeyOrigins.pattern, param("pattern")));
const removeOrigin = statement((q) => q.delete(appKeyOrigins).where(isOrigin));
const removeAllOrigins = statement((q) => q.delete(appKeyOrigins).where(isOfKey));
const isKey = eq(appKeys.id, param("appId"));
const allowNoOrigin = sql`coalesce(${param("allowNoOrigin")}, allow_no_origin)`;
const enforcement = { ...params("enforceOrigins", "updatedAt"), allowNoOrigin };
const setEnforcement = statement((q) => q.update(appKeys).set(enforcement).where(isKey));

/** Adds origins to an allowlist, and enforces it. Errors: notFound, wrongState for a revoked key, validationFailed. */
export function addOrigins(ctx: SystemCtx, input: { appId: string; origins: string[] }): Promise<AppKeyDetails> {
  const patterns = input.origins.map((entry) => parseOriginPattern(entry).text);
  if (patterns.length === 0) throw invalidField("origins", "must contain at least one origin");
  return change(ctx, input.appId, async (tx, tenantId) => {
    await insertAll(tx, tenantId, input.appId, patterns);
    await enforce(tx, input.appId, true, null);
  });
}

type KeyInput = Parameters<typeof issueKey>[1] & { origins: string[]; allowNoOrigin: boolean };

/** Issues a key, for any origin unless `origins` or `allowNoOrigin` is set. Errors: as `issueKey`, `setOrigins`. */
export function issueKeyWithOrigins(ctx: SystemCtx, { origins, allowNoOrigin, ...input }: KeyInput) {
  return inTransaction(ctx, async (tx) => {
    const { app_id: appId, app_secret } = await issueKey(tx, input);
    if (origins.length > 0 || allowNoOrigin) await setOrigins(tx, { appId, origins, allowNoOrigin });
    return withSecret(await requireKey(tx, appId), app_secret);
  });
}

/** Removes origins. An empty list stays enforced, else any origin could use the key. Errors: as `addOrigins`. */
export function removeOrigins(ctx: SystemCtx, input: { appId: string; origins: string[] }): Promise<AppKeyDetails> {
  const { appId, origins } = input;
  const patterns = origins.map((entry) => parseOriginPattern(entry).text);
  return change(ctx, appId, async (tx) => {
    for (const pattern of patterns) {
      const removed = await run(tx.db, removeOrigin, { appId, pattern });
      const remedy = `List them: bodega origin list ${appId}`;
      if (removed === 0) throw notFound("origin", pattern, { in: `the list of ${appId}`, remedy });
    }
  });
}

/** Replaces a key's allowlist. An empty list with `enforce: false` allows every origin. Errors: as `addOrigins`. */
export function setOrigins(
  ctx: SystemCtx,
  input: { appId: string; origins: string[]; allowNoOrigin?: boolean; enforce?: boolean },
): Promise<AppKeyDetails> {
  const patterns = input.origins.map((entry) => parseOriginPattern(entry).text);
  return change(ctx, input.appId, async (tx, tenantId) => {
    await run(tx.db, removeAllOrigins, { appId: input.appId });
    await insertAll(tx, tenantId, input.appId, patterns);
    await enforce(tx, input.appId, input.enforce ?? true, input.allowNoOrigin ?? false);
  });
}

/** Returns whether the key accepts this `Origin` (specification, section 5), for which reason, and by which entry. */
export function verifyOrigin(
  key: { enforceOrigins: boolean; allowNoOrigin: boolean; patterns: ReturnType<typeof parseOriginPattern>[] },
  origin: string | null,
) {
  const decide = (allowed: boolean, reason: string, matched: string | null = null) => ({ allowed, reason, matched });
  if (!key.enforceOrigins) return decide(true, "The key does not restrict origins.");
  if (origin === null) {
    const does = key.allowNoOrigin ? "allows" : "does not allow";
    return decide(key.allowNoOrigin, `The key ${does} requests without an Origin header.`);
  }
  const matched = matchOrigin(key.patterns, origin)?.text;
  if (matched !== undefined) return decide(true, `The origin matches ${matched}.`, matched);
  const quoted = JSON.stringify(origin.slice(0, 200));
  if (parseOrigin(origin)) return decide(false, `The origin ${quoted} is not on the key's list.`);
  return decide(false, `${quoted} is not an origin of the form https://host[:port].`);
}

function change(ctx: SystemCtx, appId: string, work: (tx: SystemCtx, tenantId: string) => Promise<void>) {
  return inTransaction(ctx, async (tx) => {
    const key = await requireKey(tx, appId);
    if (key.revoked_at) throw keyRevoked(key);
    await work(tx, key.tenant_id);
    const after = await getKey(tx, appId);
    if (after.origins.length > maxOrigins) throw invalidField("origins", `must contain at most ${maxOrigins} entries`);
    const { enforce_origins, allow_no_origin } = after;
    const added = after.origins.filter((entry) => !key.origins.includes(entry));
    const removed = key.origins.filter((entry) => !after.origins.includes(entry));
    const details = { added, removed, enforce_origins, allow_no_origin };
    await recordAudit(tx, { event: "origins.changed", namespace: key.namespace, subject: appId, details });
    return after;
  });
}

async function insertAll(ctx: SystemCtx, tenantId: string, appId: string, patterns: string[]): Promise<void> {
  const values = { tenantId, appId, createdAt: toTimestamp(ctx.now()) };
  for (const pattern of patterns) await run(ctx.db, insertOrigin, { ...values, pattern });
}

async function enforce(ctx: SystemCtx, appId: string, enforceOrigins: boolean, allowNoOrigin: boolean | null) {
  await run(ctx.db, setEnforcement, { appId, enforceOrigins, allowNoOrigin, updatedAt: toTimestamp(ctx.now()) });
}

/** Explains whether the key accepts this `Origin` (null: no such header), and how to allow it. Errors: notFound. */
export async function explainOrigin(ctx: SystemCtx, { appId, origin }: { appId: string; origin: string | null }) {
  const key = await getKey(ctx, appId);
  const patterns = key.origins.map(parseOriginPattern);
  const rule = { enforceOrigins: key.enforce_origins, allowNoOrigin: key.allow_no_origin, patterns };
  const verdict = verifyOrigin(rule, origin);
  return { ...verdict, advice: verdict.allowed ? null : advise(appId, key.origins, origin) };
}

function advise(appId: string, entries: readonly string[], origin: string | null): string {
  if (origin === null) {
    const list = entries.map((entry) => ` ${quoteWord(entry)}`).join("");
    return `Servers and apps send no Origin header. Allow such requests too: bodega origin set ${appId}${list} --allow-no-origin`;
  }
  if (parseOrigin(origin) !== null) return `To allow it: bodega origin add ${appId} ${quoteWord(origin)}`;
  return "No entry can match it. A browser sends scheme, host and port, such as https://shop.example.com, or null from a file or a sandboxed frame.";
}
