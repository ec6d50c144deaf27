import { randomBytes } from "node:crypto";
import { sql } from "drizzle-orm";
import type { Ctx } from "../../context.ts";
import { param, run, statement } from "../../db/statement.ts";
import { toTimestamp } from "../../values/timestamp.ts";
import { recoveryCodes, twoFactor } from "./table.ts";

const howMany = 10;
const characters = 10;
// Crockford's base32: no letters that look like digits, and 5 bits a character.
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
 * Replaces a user's recovery codes with ten new ones of 50 random bits, in the transaction of the act. Only their hashes
 * are stored, so the returned texts cannot be read again.
 */
export async function replaceRecoveryCodes(ctx: Ctx, userId: string): Promise<string[]> {
  const codes = Array.from({ length: howMany }, makeCode);
  const hashes = JSON.stringify(codes.map((code) => hashOf(ctx, userId, code)));
  await removeRecoveryCodes(ctx, userId);
  await run(ctx.db, insertCodes, { tenantId: ctx.tenant.id, userId, hashes });
  return codes.map((code) => `${code.slice(0, characters / 2)}-${code.slice(characters / 2)}`);
}

/** Deletes all recovery codes of a user. */
export function removeRecoveryCodes(ctx: Ctx, userId: string): Promise<number> {
  return run(ctx.db, deleteCodes, { tenantId: ctx.tenant.id, userId });
}

/** Spends a recovery code; false when it is unknown or used, or the second factor is not enabled. */
export async function spendRecoveryCode(ctx: Ctx, userId: string, code: string): Promise<boolean> {
  const values = { tenantId: ctx.tenant.id, userId, hash: hashOf(ctx, userId, code), now: toTimestamp(ctx.now()) };
  return (await run(ctx.db, useCode, values)) > 0;
}

/** A recovery code as stored, however it was typed; null for a text that cannot be one. */
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
