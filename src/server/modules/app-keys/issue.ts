import type { SystemCtx } from "../../context.ts";
import { inTransaction } from "../../db/transaction.ts";
import { setOrigins } from "./origins.ts";
import { issueKey, requireKey, withSecret } from "./service.ts";

type KeyInput = Parameters<typeof issueKey>[1] & { origins: string[]; allowNoOrigin: boolean };

/**
 * Issues a key together with its allowlist. Without origins and `allowNoOrigin` the list is not enforced.
 * @throws as issueKey and setOrigins.
 */
export function issueKeyWithOrigins(ctx: SystemCtx, { origins, allowNoOrigin, ...input }: KeyInput) {
  return inTransaction(ctx, async (tx) => {
    const { app_id: appId, app_secret } = await issueKey(tx, input);
    if (origins.length > 0 || allowNoOrigin) await setOrigins(tx, { appId, origins, allowNoOrigin });
    return withSecret(await requireKey(tx, appId), app_secret);
  });
}
