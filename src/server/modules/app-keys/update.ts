import { sql } from "drizzle-orm";
import type { SystemCtx } from "../../context.ts";
import { param, run, statement } from "../../db/statement.ts";
import { inTransaction } from "../../db/transaction.ts";
import { wrongState } from "../../errors.ts";
import { parseScopes } from "../../security/scopes.ts";
import { requireText } from "../../values/text.ts";
import { toTimestamp } from "../../values/timestamp.ts";
import { recordAudit } from "../audit/service.ts";
import type { AppKeyDetails } from "./model.ts";
import { getKey, parseExpiry } from "./service.ts";
import { appKeys } from "./table.ts";

const changeKey = statement(sql`
  update ${appKeys} set name = ${param("name")}, scopes = ${param("scopes")}, expires_at = ${param("expiresAt")},
    updated_at = ${param("now")}
  where id = ${param("appId")} and revoked_at is null`);

/** Changes of a key; omitted fields stay. */
export interface KeyPatch {
  name?: string | undefined;
  /** Replaces the current scopes. */
  scopes?: string[] | undefined;
  /** RFC 3339, in the future; null: never. */
  expiresAt?: string | null | undefined;
}

/**
 * Changes a key's name, scopes and expiry from the next request on. Its secrets stay.
 * @throws notFound, wrongState for a revoked key, validationFailed for an invalid field.
 */
export function updateKey(ctx: SystemCtx, appId: string, patch: KeyPatch): Promise<AppKeyDetails> {
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
      now: toTimestamp(ctx.now()),
    });
    if (changed === 0) throw wrongState(`The key ${appId} is revoked; issue a new one.`);
    const after = await getKey(tx, appId);
    const details = { name: after.name, scopes: after.scopes, expires_at: after.expires_at };
    await recordAudit(tx, { event: "key.updated", namespace: after.namespace, subject: appId, details });
    return after;
  });
}
