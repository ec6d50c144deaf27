import { sql } from "drizzle-orm";
import { defaultPushOptions, type PushPlatform } from "../../../config/push-config.ts";
import type { Ctx } from "../../../context.ts";
import { isUniqueViolation } from "../../../db/db-errors.ts";
import { bind, get, param, run, statement } from "../../../db/statement.ts";
import { conflict, invalidField, notFound } from "../../../errors.ts";
import { isId } from "../../../values/ids.ts";
import { toTimestamp } from "../../../values/timestamp.ts";
import { sealTarget } from "../providers/target.ts";
import { pushRegistrations } from "../table.ts";
import type { Registration, RegistrationPatch } from "./registration-model.ts";
import {
  countDeviceWrite,
  hashManagementSecret,
  isManagementSecret,
  keysOf,
  type RegistrationRow,
  topicStatements,
  toRegistration,
} from "./registration-record.ts";
import { parseTarget } from "./target-input.ts";

const selectProof = statement<{ platform: PushPlatform; secretHash: string }>(sql`
  select platform, secret_hash as secretHash from ${pushRegistrations}
  where tenant_id = ${param("tenantId")} and id = ${param("id")}`);
// The statements that write check the secret again: the device may have registered again meanwhile.
const isOwn = sql`tenant_id = ${param("tenantId")} and id = ${param("id")} and secret_hash = ${param("secretHash")}`;
const isSameTarget = sql`(${param("targetKey")} is null
  or (target_key = ${param("targetKey")} and proof_key is ${param("proofKey")}))`;
const updateOwn = statement(sql`
  update ${pushRegistrations} set lang = coalesce(${param("lang")}, lang), updated_at = ${param("now")},
    target = coalesce(${param("target")}, target), target_key = coalesce(${param("targetKey")}, target_key),
    proof_key = case when ${param("targetKey")} is null then proof_key else ${param("proofKey")} end,
    is_proven = case when ${isSameTarget} then is_proven else 0 end
  where ${isOwn}`);
const { clearTopics, writeTopics, select } = topicStatements(isOwn);
const removeOwn = statement(sql`delete from ${pushRegistrations} where ${isOwn}`);

/**
 * Changes the topics, language, endpoint or token of a registration for its own device.
 * @throws validationFailed naming the field, tooManyRequests, notFound unless the secret is the registration's, conflict
 * when the new endpoint or token has another registration.
 */
export async function changeRegistration(
  ctx: Ctx,
  id: string,
  { lang, topics, management_secret: secret, ...given }: RegistrationPatch & { lang: string | undefined },
): Promise<Registration> {
  const { platform, own } = await authenticateOwn(ctx, id, secret);
  const values = { ...own, ...renewTarget(ctx, id, platform, given), lang: lang ?? null };
  const now = toTimestamp(ctx.now());
  const newTopics = { ...own, topics: JSON.stringify([...new Set(topics)]) };
  const statements = [
    bind(updateOwn, { ...values, now }),
    ...(topics === undefined ? [] : [bind(clearTopics, newTopics), bind(writeTopics, newTopics)]),
    bind(select, own),
  ];
  try {
    const row = (await ctx.db.batch(statements)).at(-1)?.rows[0] as unknown as RegistrationRow | undefined;
    if (!row) throw notFound("registration");
    return toRegistration(ctx, row);
  } catch (error) {
    if (!isUniqueViolation(error)) throw error;
    throw conflict("The new endpoint or token already has another registration. Remove one of the two.");
  }
}

/**
 * Removes a registration for its own device.
 * @throws validationFailed naming `management_secret`, tooManyRequests, notFound unless the secret is the registration's.
 */
export async function removeOwnRegistration(ctx: Ctx, id: string, secret: string | undefined): Promise<void> {
  const { own } = await authenticateOwn(ctx, id, secret);
  if ((await run(ctx.db, removeOwn, own)) === 0) throw notFound("registration");
}

/** Checks that a caller may change a registration. An unknown id and a wrong secret are the same error. */
async function authenticateOwn(ctx: Ctx, id: string, secret: string | undefined) {
  if (secret === undefined) throw invalidField("management_secret", "is required");
  if (!isId("reg", id)) throw notFound("registration");
  await countDeviceWrite(ctx, id);
  const tenantId = ctx.tenant.id;
  const row = await get(ctx.db, selectProof, { tenantId, id });
  if (!isManagementSecret(secret, row?.secretHash) || !row) throw notFound("registration");
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
