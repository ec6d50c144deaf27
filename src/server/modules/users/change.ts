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
 * Changes the fields given; `metadata` is merged as RFC 7396 says. Another address is unverified unless the change says
 * otherwise. Who is disabled is signed out.
 * @param ifMatch the version that must stand; null for any.
 * @throws notFound; forbidden for a user or role that the actor may not manage, and for the actor's own role and status;
 * preconditionFailed; wrongState for the last active owner, except from the terminal; conflict for an address that is taken; validationFailed.
 */
export function updateUser(ctx: Ctx, id: string, patch: UserFields, ifMatch: number | null): Promise<User> {
  const columns = userColumns(patch);
  return inTransaction(ctx, async (tx) => {
    const before = await requireStoredUser(tx, id);
    if (columns.role !== undefined) requireManageable(tx, columns.role);
    if (isSelf(tx, id) && (columns.role !== undefined || columns.status !== undefined)) {
      throw forbidden("Nobody changes their own role or status.");
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

/** Lets a user sign in, or no longer; the latter signs them out. Errors: those of `updateUser`. */
export function setStatus(ctx: Ctx, id: string, status: UserStatus): Promise<User> {
  return updateUser(ctx, id, { status }, null);
}
