import type { Ctx } from "../../context.ts";
import { inTransaction } from "../../db/transaction.ts";
import { forbidden } from "../../errors.ts";
import { endTokens } from "../tokens/service.ts";
import { explainRefusal, guardedUser, guardValues, requireStoredUser } from "./guards.ts";
import { type UserFields, userColumns } from "./input.ts";
import type { User, UserStatus } from "./model.ts";
import { isSelf, requireManageable } from "./permission.ts";
import { endVoidCodes, recordChanges, writeColumns } from "./write-columns.ts";

/**
 * Changes the given fields; `metadata` is merged (RFC 7396). A new address is unverified unless the change says
 * otherwise. Disabling a user revokes their token.
 * @param ifMatch the required version; null for any.
 * @throws notFound; forbidden for a user or role that the actor may not manage, and for the actor's own role and
 * status; preconditionFailed; wrongState for the last active owner, except from the terminal; conflict for a taken
 * address; validationFailed.
 */
export function updateUser(ctx: Ctx, id: string, patch: UserFields, ifMatch: number | null): Promise<User> {
  const columns = userColumns(patch);
  return inTransaction(ctx, async (tx) => {
    const before = await requireStoredUser(tx, id);
    if (columns.role !== undefined) requireManageable(tx, columns.role);
    if (isSelf(tx, id) && (columns.role !== undefined || columns.status !== undefined)) {
      throw forbidden("You cannot change your own role or status.");
    }
    const endsOwner = (columns.role !== undefined && columns.role !== "owner") || columns.status === "disabled";
    const values = guardValues(tx, id, ifMatch, endsOwner);
    const user = await writeColumns(tx, columns, { name: "managed", condition: guardedUser, values });
    if (!user) throw explainRefusal(before, ifMatch);
    if (before.status === "active" && columns.status === "disabled") await endTokens(tx, id, "revoked");
    await endVoidCodes(tx, before, columns);
    await recordChanges(tx, before, columns, user);
    return user;
  });
}

/** Enables or disables a user; disabling revokes their token. Errors: those of `updateUser`. */
export function setStatus(ctx: Ctx, id: string, status: UserStatus): Promise<User> {
  return updateUser(ctx, id, { status }, null);
}
