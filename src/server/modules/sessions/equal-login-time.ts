import { sql } from "drizzle-orm";
import type { Ctx } from "../../context.ts";
import { all, param, statement } from "../../db/statement.ts";
import { AppError } from "../../errors.ts";
import { hashesToVerify } from "../passwords/hash-kinds.ts";
import { verifyPassword } from "../passwords/password-hash.ts";
import { imported, users } from "../users/table.ts";

const maxKinds = 100;

const ofTenant = sql`tenant_id = ${param("tenantId")} and ${imported}`;
const kind = sql.raw(`case when found.hash like '$2%' then substr(found.hash, 1, 7)
  else substr(found.hash, 1, instr(found.hash, ',p=') + 4) end`);

/**
 * The beginnings of the imported hashes of a tenant, each kind once. It steps from kind to kind in the index
 * `users_imported`: hashes that begin with `…$` sort before `…%`.
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
 * Makes every refused login of a store take the same time, by verifying one hash of each kind that the store has: a
 * shorter time would reveal that a user exists and that their password was imported.
 * @param verified hashes that were verified already; null for the decoy.
 */
export async function equalizeLoginTime(
  ctx: Ctx,
  password: string,
  verified: readonly (string | null)[],
): Promise<void> {
  try {
    const kinds = await all(ctx.db, selectKinds, { tenantId: ctx.tenant.id });
    const names = kinds.map((row) => row.kind);
    for (const hash of hashesToVerify(names, verified)) await verifyPassword(password, hash);
  } catch (error) {
    // Under a load with no capacity left for hashing, the refusal must still be answered and counted as one.
    if (!(error instanceof AppError)) throw error;
  }
}
