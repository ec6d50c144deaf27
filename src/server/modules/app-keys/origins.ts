import { eq, sql } from "drizzle-orm";
import type { SystemCtx } from "../../context.ts";
import { param, params, run, statement } from "../../db/statement.ts";
import { inTransaction } from "../../db/transaction.ts";
import { invalidField, notFound } from "../../errors.ts";
import { quoteWord } from "../../values/shell-quote.ts";
import { toTimestamp } from "../../values/stamps.ts";
import { recordAudit } from "../audit/service.ts";
import { matchOrigin, parseOrigin, parseOriginPattern } from "./origin-pattern.ts";
import { type AppKeyDetails, getKey, issueKey, keyRevoked, tenantOfKey, withSecret } from "./service.ts";
import { appKeyOrigins, appKeys } from "./table.ts";

const maxOrigins = 200;

const insertOrigins = statement(sql`
  insert into ${appKeyOrigins} (tenant_id, app_id, pattern, created_at)
  select distinct ${tenantOfKey}, ${param("appId")}, value, ${param("now")} from json_each(${param("origins")})`);
const deleteOrigins = statement((q) => q.delete(appKeyOrigins).where(eq(appKeyOrigins.appId, param("appId"))));
const rule = { ...params("enforceOrigins", "allowNoOrigin"), updatedAt: param("now") };
const isKey = eq(appKeys.id, param("appId"));
const setRule = statement((q) => q.update(appKeys).set(rule).where(isKey));

/** Adds origins to a key's allowlist and enforces it. Errors: notFound, wrongState if revoked, validationFailed. */
export function addOrigins(ctx: SystemCtx, input: { appId: string; origins: string[] }): Promise<AppKeyDetails> {
  const patterns = parseAll(input.origins);
  if (patterns.length === 0) throw invalidField("origins", "must contain at least one origin");
  return change(ctx, input.appId, (key) => ({ ...key, origins: [...key.origins, ...patterns], enforce_origins: true }));
}

type KeyInput = Parameters<typeof issueKey>[1] & { origins: string[]; allowNoOrigin: boolean };

/** Issues a key. Without `origins` and `allowNoOrigin`, it is for any origin. Errors: as `issueKey`, `setOrigins`. */
export function issueKeyWithOrigins(ctx: SystemCtx, { origins, allowNoOrigin, ...input }: KeyInput) {
  return inTransaction(ctx, async (tx) => {
    const { app_id: appId, app_secret } = await issueKey(tx, input);
    if (origins.length > 0 || allowNoOrigin) await setOrigins(tx, { appId, origins, allowNoOrigin });
    return withSecret(await getKey(tx, appId), app_secret);
  });
}

/** Removes origins. An empty list is still enforced, so that the key is not open to all. Errors: as `addOrigins`. */
export function removeOrigins(ctx: SystemCtx, input: { appId: string; origins: string[] }): Promise<AppKeyDetails> {
  const { appId } = input;
  const patterns = parseAll(input.origins);
  return change(ctx, appId, (key) => {
    const unknown = patterns.find((pattern) => !key.origins.includes(pattern));
    const remedy = `List them: bodega origin list ${appId}`;
    if (unknown !== undefined) throw notFound("origin", unknown, { in: `the list of ${appId}`, remedy });
    return { ...key, origins: key.origins.filter((origin) => !patterns.includes(origin)) };
  });
}

/** Replaces a key's allowlist. An empty list with `enforce: false` allows every origin. Errors: as `addOrigins`. */
export function setOrigins(
  ctx: SystemCtx,
  input: { appId: string; origins: string[]; allowNoOrigin?: boolean; enforce?: boolean },
): Promise<AppKeyDetails> {
  const { appId, enforce: enforce_origins = true, allowNoOrigin: allow_no_origin = false } = input;
  const origins = parseAll(input.origins);
  return change(ctx, appId, () => ({ origins, enforce_origins, allow_no_origin }));
}

function parseAll(origins: readonly string[]): string[] {
  return origins.map((entry) => parseOriginPattern(entry).text);
}

/** Returns whether the key accepts this `Origin` (specification, section 5), the reason, and the matching entry. */
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

type OriginRule = Pick<AppKeyDetails, "origins" | "enforce_origins" | "allow_no_origin">;

function change(ctx: SystemCtx, appId: string, edit: (key: AppKeyDetails) => OriginRule) {
  return inTransaction(ctx, async (tx) => {
    const key = await getKey(tx, appId);
    if (key.revoked_at) throw keyRevoked(key);
    const { origins, enforce_origins, allow_no_origin } = edit(key);
    const now = toTimestamp(ctx.now());
    await run(tx.db, deleteOrigins, { appId });
    await run(tx.db, insertOrigins, { appId, now, origins: JSON.stringify(origins) });
    await run(tx.db, setRule, { appId, now, enforceOrigins: enforce_origins, allowNoOrigin: allow_no_origin });
    const after = await getKey(tx, appId);
    if (after.origins.length > maxOrigins) throw invalidField("origins", `must contain at most ${maxOrigins} entries`);
    const added = after.origins.filter((entry) => !key.origins.includes(entry));
    const removed = key.origins.filter((entry) => !after.origins.includes(entry));
    const details = { added, removed, enforce_origins, allow_no_origin };
    await recordAudit(tx, { event: "origins.changed", namespace: key.namespace, subject: appId, details });
    return after;
  });
}

/** Explains whether the key accepts this `Origin` (null for none), and how to allow it. Errors: notFound. */
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
  return "No entry can match this origin. Browsers send scheme, host and port, such as https://shop.example.com. From a file or a sandboxed frame they send null.";
}
