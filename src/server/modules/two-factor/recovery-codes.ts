import { randomBytes } from "node:crypto";
import { sql } from "drizzle-orm";
import type { Ctx } from "../../context.ts";
import { param, run, statement } from "../../db/statement.ts";
import { toTimestamp } from "../../values/timestamp.ts";
import { recoveryCodes, twoFactor } from "./table.ts";

const howMany = 10;
const characters = 10;
// Crockford's base32: no letter that could be taken for a digit, and 5 bits a character.
const alphabet = "0123456789abcdefghjkmnpqrstvwxyz";

const ofUser = sql`tenant_id = ${param("tenantId")} and user_id = ${param("userId")}`;
const deleteCodes = statement(sql`delete from ${recoveryCodes} where ${ofUser}`);
const insertCodes = statement(sql`
  insert into ${recoveryCodes} (tenant_id, user_id, hash)
  select ${param("tenantId")}, ${param("userId")}, value from json_each(${param("hashes")})`);
const useCode = statement(sql`
  update ${recoveryCodes} set used_at = ${param("now")}
  where ${ofUser} and hash = ${param("hash")} and used_at is null
    and exists (select 1 from ${twoFactor} where ${ofUser} and confirmed_at is not null)`);

/**
 * Makes ten recovery codes of 50 random bits in the place of those that the user had. Called in the transaction of the
 * act. Only their hashes are kept: what is returned is all that anyone will ever see of them.
 */
export async function replaceRecoveryCodes(ctx: Ctx, userId: string): Promise<string[]> {
  const codes = Array.from({ length: howMany }, makeCode);
  const hashes = JSON.stringify(codes.map((code) => hashOf(ctx, userId, code)));
  await removeRecoveryCodes(ctx, userId);
  await run(ctx.db, insertCodes, { tenantId: ctx.tenant.id, userId, hashes });
  return codes.map((code) => `${code.slice(0, characters / 2)}-${code.slice(characters / 2)}`);
}

/** Ends all recovery codes of a user. */
export function removeRecoveryCodes(ctx: Ctx, userId: string): Promise<number> {
  return run(ctx.db, deleteCodes, { tenantId: ctx.tenant.id, userId });
}

/** Spends a recovery code; false when it is none of the user's, or used, or the second factor is not on. */
export async function spendRecoveryCode(ctx: Ctx, userId: string, code: string): Promise<boolean> {
  const values = { tenantId: ctx.tenant.id, userId, hash: hashOf(ctx, userId, code), now: toTimestamp(ctx.now()) };
  return (await run(ctx.db, useCode, values)) > 0;
}

/** The one form of a recovery code, however it was typed; null for what cannot be one. */
export function readRecoveryCode(text: string): string | null {
  const code = text.toLowerCase().replace(/[\s-]/g, "").replaceAll("o", "0").replace(/[il]/g, "1");
  return code.length === characters && [...code].every((character) => alphabet.includes(character)) ? code : null;
}

function makeCode(): string {
  return Array.from(randomBytes(characters), (byte) => alphabet[byte & 31]).join("");
}

function hashOf(ctx: Ctx, userId: string, code: string): string {
  return ctx.vault.mac("recovery-code", `${userId}:${code}`);
}
