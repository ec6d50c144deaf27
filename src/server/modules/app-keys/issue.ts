import type { SystemCtx } from "../../context.ts";
import { inTransaction } from "../../db/transaction.ts";
import type { IssuedAppKey } from "./model.ts";
import { setOrigins } from "./origins.ts";
import { issueKey } from "./service.ts";

type KeyInput = Parameters<typeof issueKey>[1] & { origins: string[]; allowNoOrigin: boolean };

/**
 * Issues a key together with its allowlist. Without origins and `allowNoOrigin` the list is not enforced.
 * @throws as issueKey and setOrigins.
 */
export function issueKeyWithOrigins(ctx: SystemCtx, { origins, allowNoOrigin, ...input }: KeyInput) {
  return inTransaction(ctx, async (tx): Promise<IssuedAppKey> => {
    const key = await issueKey(tx, input);
    if (origins.length === 0 && !allowNoOrigin) return key;
    const after = await setOrigins(tx, { appId: key.app_id, origins, allowNoOrigin });
    const { enforce_origins, allow_no_origin } = after;
    return { ...key, origins: after.origins, enforce_origins, allow_no_origin };
  });
}
