import { sql } from "drizzle-orm";
import type { Ctx } from "../../context.ts";
import { all, param, statement } from "../../db/statement.ts";
import { AppError } from "../../errors.ts";
import { hashesToVerify } from "../passwords/hash-kinds.ts";
import { verifyPassword } from "../passwords/password-hash.ts";
import { imported, users } from "../users/table.ts";

/** So many kinds are looked for. */
const maxKinds = 100;

const ofTenant = sql`tenant_id = ${param("tenantId")} and ${imported}`;
const kind = sql.raw(`case when found.hash like '$2%' then substr(found.hash, 1, 7)
  else substr(found.hash, 1, instr(found.hash, ',p=') + 4) end`);

/**
 * How the imported hashes of a tenant begin, each kind once. Steps from one kind to the next in the index `users_imported`:
 * behind all that begins with `…$` comes what is not less than `…%`.
 */
export const selectKinds = statement<{ kind: string }>(sql`
  with recursive found (hash) as (
    select (select password_hash from ${users} where ${ofTenant} order by password_hash limit 1)
    union all
    select (select password_hash from ${users} where ${ofTenant}
      and password_hash >= substr(${kind}, 1, length(${kind}) - 1) || char(unicode(substr(${kind}, -1)) + 1)
      order by password_hash limit 1)
    from found where found.hash is not null limit ${sql.raw(String(maxKinds + 1))})
  select ${kind} as kind from found where found.hash is not null`);

/**
 * Makes a refused sign-in as dear as every other of the store: one hash of each kind that is there, so that its time does
 * not tell whose password was imported, and so that the user exists.
 * @param verified hashes that were verified already; null for the decoy.
 */
export async function levelRefusal(ctx: Ctx, password: string, verified: readonly (string | null)[]): Promise<void> {
  try {
    const kinds = await all(ctx.db, selectKinds, { tenantId: ctx.tenant.id });
    const names = kinds.map((row) => row.kind);
    for (const hash of hashesToVerify(names, verified)) await verifyPassword(password, hash);
  } catch (error) {
    // Under a load that leaves no turn, the refusal must still be answered as one, and counted.
    if (!(error instanceof AppError)) throw error;
  }
}
