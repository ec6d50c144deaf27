import { sql } from "drizzle-orm";
import { defaultPushOptions, type PushPlatform } from "../../../config/push-config.ts";
import type { Ctx } from "../../../context.ts";
import { isUniqueViolation } from "../../../db/db-errors.ts";
import { bind, get, param, run, statement } from "../../../db/statement.ts";
import { conflict, invalidField } from "../../../errors.ts";
import { isId } from "../../../values/ids.ts";
import { toTimestamp } from "../../../values/timestamp.ts";
import { sealTarget } from "../providers/target.ts";
import { pushRegistrations, pushTopics } from "../table.ts";
import { hashManagementSecret, isManagementSecret } from "./management-secret.ts";
import type { Registration, RegistrationPatch } from "./registration-model.ts";
import {
  countDeviceWrite,
  keysOf,
  noSuchRegistration,
  type RegistrationRow,
  registrationColumns,
  toRegistration,
} from "./registration-record.ts";
import { parseTarget } from "./target-input.ts";

const selectProof = statement<{ platform: PushPlatform; secretHash: string }>(sql`
  select platform, secret_hash as secretHash from ${pushRegistrations}
  where tenant_id = ${param("tenantId")} and id = ${param("id")}`);
// The secret is proved once more by the statements that write: the device may have registered anew meanwhile.
const own = sql`tenant_id = ${param("tenantId")} and id = ${param("id")} and secret_hash = ${param("secretHash")}`;
const isSameTarget = sql`(${param("targetKey")} is null
  or (target_key = ${param("targetKey")} and proof_key is ${param("proofKey")}))`;
const updateOwn = statement(sql`
  update ${pushRegistrations} set lang = coalesce(${param("lang")}, lang), updated_at = ${param("now")},
    target = coalesce(${param("target")}, target), target_key = coalesce(${param("targetKey")}, target_key),
    proof_key = case when ${param("targetKey")} is null then proof_key else ${param("proofKey")} end,
    is_proven = case when ${isSameTarget} then is_proven else 0 end
  where ${own}`);
const written = sql`(select id from ${pushRegistrations} where ${own})`;
const clearTopics = statement(sql`
  delete from ${pushTopics} where tenant_id = ${param("tenantId")} and registration_id in ${written}`);
const writeTopics = statement(sql`
  insert into ${pushTopics} (tenant_id, topic, registration_id)
  select ${param("tenantId")}, t.value, r.id from json_each(${param("topics")}) t, ${written} r`);
const selectOwn = statement<RegistrationRow>(sql`
  select ${registrationColumns} from ${pushRegistrations} r where r.id in ${written}`);
const removeOwn = statement(sql`delete from ${pushRegistrations} where ${own}`);

/** What is changed of a registration, with the language asked for. */
export interface RegistrationChange extends RegistrationPatch {
  lang: string | undefined;
}

/**
 * Changes what a registration's own device asks for: its topics, its language, and where it is reached by now.
 * @throws validationFailed naming the field, tooManyRequests, notFound unless the secret is the registration's, conflict where the new
 * endpoint or token has a registration of its own.
 */
export async function changeRegistration(
  ctx: Ctx,
  id: string,
  { lang, topics, management_secret: secret, ...given }: RegistrationChange,
): Promise<Registration> {
  const proof = await proveOwn(ctx, id, secret);
  const values = { ...proof.own, ...renewTarget(ctx, id, proof.platform, given), lang: lang ?? null };
  const now = toTimestamp(ctx.now());
  const newTopics = { ...proof.own, topics: JSON.stringify([...new Set(topics)]) };
  const statements = [
    bind(updateOwn, { ...values, now }),
    ...(topics === undefined ? [] : [bind(clearTopics, newTopics), bind(writeTopics, newTopics)]),
    bind(selectOwn, proof.own),
  ];
  try {
    const row = (await ctx.db.batch(statements)).at(-1)?.rows[0] as unknown as RegistrationRow | undefined;
    if (!row) throw noSuchRegistration();
    return toRegistration(ctx, row);
  } catch (error) {
    if (!isUniqueViolation(error)) throw error;
    throw conflict("The new endpoint or token has a registration of its own; remove one of the two.");
  }
}

/**
 * Removes a registration for its own device.
 * @throws validationFailed naming `management_secret`, tooManyRequests, notFound unless the secret is the registration's.
 */
export async function removeOwnRegistration(ctx: Ctx, id: string, secret: string | undefined): Promise<void> {
  const proof = await proveOwn(ctx, id, secret);
  if ((await run(ctx.db, removeOwn, proof.own)) === 0) throw noSuchRegistration();
}

/** Proves that a caller may change a registration; whether it is unknown or the secret another is not told. */
async function proveOwn(ctx: Ctx, id: string, secret: string | undefined) {
  if (secret === undefined) throw invalidField("management_secret", "is required");
  if (!isId("reg", id)) throw noSuchRegistration();
  await countDeviceWrite(ctx, id);
  const tenantId = ctx.tenant.id;
  const row = await get(ctx.db, selectProof, { tenantId, id });
  if (!isManagementSecret(secret, row?.secretHash) || !row) throw noSuchRegistration();
  return { platform: row.platform, own: { tenantId, id, secretHash: hashManagementSecret(secret) } };
}

/** The columns of a new target; null where there is none. */
function renewTarget(
  ctx: Ctx,
  id: string,
  platform: PushPlatform,
  given: Pick<RegistrationPatch, "subscription" | "token">,
) {
  if (given.subscription === undefined && given.token === undefined) {
    return { target: null, targetKey: null, proofKey: null };
  }
  const target = parseTarget(platform, given, (ctx.push ?? defaultPushOptions).allowPrivate);
  return { target: sealTarget(ctx.vault, id, target), ...keysOf(ctx, platform, target) };
}
