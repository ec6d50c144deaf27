import { and, desc, eq, gt, isNull, lte, notInArray, or } from "drizzle-orm";
import type { SystemCtx } from "../../context.ts";
import { all, param, params, run, statement } from "../../db/statement.ts";
import { inTransaction } from "../../db/transaction.ts";
import { invalidField, wrongState } from "../../errors.ts";
import { parseScopes } from "../../security/scopes.ts";
import { requireText } from "../../values/fields.ts";
import { hashSecret, newId, newSecret, toTimestamp } from "../../values/stamps.ts";
import { recordAudit } from "../audit/service.ts";
import {
  getKey,
  insertSecret,
  isValidKey,
  keepLastUse,
  keyRevoked,
  parseExpiry,
  requireKey,
  withSecret,
} from "./service.ts";
import { appKeySecrets, appKeys } from "./table.ts";

const changes = params("name", "scopes", "expiresAt", "updatedAt");
const changeKey = statement((q) => q.update(appKeys).set(changes).where(isValidKey));

interface KeyPatch {
  name?: string | undefined;
  scopes?: string[] | undefined;
  expiresAt?: string | null | undefined;
}

export function updateKey(ctx: SystemCtx, appId: string, patch: KeyPatch) {
  const name = patch.name === undefined ? undefined : requireText("name", patch.name, 100);
  const scopes = patch.scopes === undefined ? undefined : parseScopes(patch.scopes);
  const expiresAt = patch.expiresAt ? parseExpiry(patch.expiresAt, ctx.now()) : patch.expiresAt;
  return inTransaction(ctx, async (tx) => {
    const before = await getKey(tx, appId);
    const changed = await run(tx.db, changeKey, {
      appId,
      name: name ?? before.name,
      scopes: JSON.stringify(scopes ?? before.scopes),
      expiresAt: expiresAt === undefined ? before.expires_at : expiresAt,
      updatedAt: toTimestamp(ctx.now()),
    });
    if (changed === 0) throw keyRevoked(before);
    const after = await getKey(tx, appId);
    const details = { name: after.name, scopes: after.scopes, expires_at: after.expires_at };
    await recordAudit(tx, { event: "key.updated", namespace: after.namespace, subject: appId, details });
    return after;
  });
}

const { id, createdAt, expiresAt } = appKeySecrets;
const isOfKey = eq(appKeySecrets.appId, param("appId"));
const isLonger = and(isOfKey, or(isNull(expiresAt), gt(expiresAt, param("expiresAt"))));
const endSecrets = statement((q) => q.update(appKeySecrets).set(params("expiresAt")).where(isLonger));
const isEnded = and(isOfKey, lte(expiresAt, param("now")));
const removeEndedSecrets = statement((q) => q.delete(appKeySecrets).where(isEnded));
const selectSecrets = statement((q) => q.select({ id }).from(appKeySecrets).where(isOfKey));
const maxSecrets = 5;
const removeOldSecrets = statement((q) => {
  const newest = q.select({ id }).from(appKeySecrets).where(isOfKey).orderBy(desc(createdAt), desc(id)).limit(1);
  return q.delete(appKeySecrets).where(and(isOfKey, notInArray(id, newest)));
});

export function requireOverlap(ms: number): void {
  if (!Number.isSafeInteger(ms) || ms < 0 || ms > 365 * 86_400_000) {
    throw invalidField("overlap", "must be between 0 and 365 days");
  }
}

/**
 * Creates a new secret; the old ones stay valid for `overlapMs`. Errors: notFound; wrongState for a revoked key, and if
 * too many secrets are valid.
 */
export function rotateKey(ctx: SystemCtx, { appId, overlapMs }: { appId: string; overlapMs: number }) {
  requireOverlap(overlapMs);
  const moment = ctx.now();
  const now = toTimestamp(moment);
  const secret = newSecret("sk_");
  return inTransaction(ctx, async (tx) => {
    const key = await requireKey(tx, appId);
    if (key.revoked_at) throw keyRevoked(key);
    await run(tx.db, endSecrets, { appId, expiresAt: toTimestamp(moment + overlapMs) });
    await run(tx.db, keepLastUse, { appId });
    await run(tx.db, removeEndedSecrets, { appId, now });
    const valid = await all(tx.db, selectSecrets, { appId });
    if (valid.length >= maxSecrets) {
      throw wrongState(`Key ${appId} already has ${valid.length} valid secrets. Rotate without --overlap to end them.`);
    }
    await run(tx.db, insertSecret, { id: newId("sec"), tenantId: key.tenant_id, appId, hash: hashSecret(secret), now });
    const details = { overlap_seconds: overlapMs / 1000 };
    await recordAudit(tx, { event: "key.rotated", namespace: key.namespace, subject: appId, details });
    return withSecret(await requireKey(tx, appId), secret);
  });
}

export function retireSecrets(ctx: SystemCtx, appId: string) {
  return inTransaction(ctx, async (tx) => {
    const { namespace } = await requireKey(tx, appId);
    await run(tx.db, keepLastUse, { appId });
    const retired = await run(tx.db, removeOldSecrets, { appId });
    if (retired > 0) await recordAudit(tx, { event: "key.retired", namespace, subject: appId, details: { retired } });
    return { ...(await getKey(tx, appId)), retired };
  });
}
