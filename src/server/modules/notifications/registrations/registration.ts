import { and, sql } from "drizzle-orm";
import { defaultPushOptions, type PushPlatform } from "../../../config/push-config.ts";
import type { Ctx } from "../../../context.ts";
import { pick } from "../../../db/columns.ts";
import { byId, equals, ofStore } from "../../../db/conditions.ts";
import { isUniqueViolation } from "../../../db/db-errors.ts";
import { bind, get, param, rowsOf, run, statement } from "../../../db/statement.ts";
import { inTransaction } from "../../../db/transaction.ts";
import { conflict, invalidField, notFound, tokenExpired, wrongState } from "../../../errors.ts";
import { hashSecret, newSecret } from "../../../security/random-secret.ts";
import { isId, newId } from "../../../values/ids.ts";
import { toTimestamp } from "../../../values/timestamp.ts";
import { addressSubject, consumeLimit, type RateLimit } from "../../rate-limits/service.ts";
import { tenants } from "../../tenants/table.ts";
import { userTokens } from "../../tokens/table.ts";
import { refuseSubject } from "../../visitors/actor.ts";
import { sealTarget } from "../providers/provider.ts";
import { findVapidPublicKey } from "../providers/vapid.ts";
import { pushCounts, pushRegistrations, pushTopics } from "../table.ts";
import type {
  CreatedRegistration,
  PushOffer,
  Registration,
  RegistrationInput,
  RegistrationPatch,
} from "./registration-model.ts";
import { countDeviceWrite, deliveryOf, isManagementSecret, keysOf, shownRegistration } from "./registrations.ts";
import { parseTarget } from "./target-input.ts";

/** Maximum number of devices of one user. Each receives notifications about every order, and some may be endpoints of strangers. */
const maxOfUser = 50;
/** Maximum number of devices of one store. */
const maxOfStore = 100_000;
/** New devices per address and store without an account; each stays for months. */
const newDevices: RateLimit = { name: "devices", max: 20, windowMs: 3_600_000 };

// The token may have been revoked meanwhile, which detached the user's devices.
const isLive = sql`(${param("userId")} is null or exists (select 1 from ${userTokens}
  where tenant_id = ${param("tenantId")} and user_id = ${param("userId")} and id = ${param("tokenId")} and ended_at is null))`;
const isSame = sql`proof_key is excluded.proof_key`;
const hasRoom = sql`(${param("isStored")} or not exists (select 1 from ${pushCounts}
  where tenant_id = ${param("tenantId")} and registrations >= ${sql.raw(String(maxOfStore))}))`;
// The same keys prove that it is the same browser; other keys require the current secret.
const upsert = statement(sql`
  insert into ${pushRegistrations} (id, tenant_id, platform, target_key, proof_key, target, user_id, lang, secret_hash,
    created_at, updated_at)
  select ${param("id")}, ${param("tenantId")}, ${param("platform")}, ${param("targetKey")}, ${param("proofKey")},
    ${param("target")}, ${param("userId")}, ${param("lang")}, ${param("secretHash")}, ${param("now")}, ${param("now")}
  where ${isLive} and ${hasRoom}
  on conflict (tenant_id, target_key) do update set
    target = case when ${isSame} then target else excluded.target end,
    is_proven = case when ${isSame} then is_proven else 0 end, proof_key = excluded.proof_key,
    user_id = excluded.user_id, lang = excluded.lang, secret_hash = excluded.secret_hash, updated_at = excluded.updated_at
  where ${isSame} or (id = excluded.id and secret_hash = ${param("knownHash")})`);

// All writes check the secret, because the device may have registered again meanwhile.
const isOwn = sql`tenant_id = ${param("tenantId")} and secret_hash = ${param("secretHash")}
  and (id = ${param("id")} or target_key = ${param("targetKey")})`;
const ownIds = sql`(select id from ${pushRegistrations} where ${isOwn})`;
const clearTopics = statement(sql`
  delete from ${pushTopics} where tenant_id = ${param("tenantId")} and registration_id in ${ownIds}`);
const writeTopics = statement(sql`
  insert into ${pushTopics} (tenant_id, topic, registration_id)
  select ${param("tenantId")}, t.value, r.id from json_each(${param("topics")}) t, ${ownIds} r`);
const selectOwn = statement((q) =>
  q
    .select({ id: pushRegistrations.id, ...shownRegistration })
    .from(pushRegistrations)
    .where(sql`${pushRegistrations.id} in ${ownIds}`),
);
const removeOldest = statement(sql`
  delete from ${pushRegistrations} where id in (
    select id from ${pushRegistrations} where user_id = ${param("userId")} and tenant_id = ${param("tenantId")}
    order by secret_hash = ${param("secretHash")} desc, updated_at desc, id desc
    limit -1 offset ${sql.raw(String(maxOfUser))})`);
const live = { isLive: isLive.mapWith(Boolean) };
const selectLive = statement((q) => q.select(live).from(tenants).where(equals(tenants.id, "tenantId")));
const proof = pick(pushRegistrations, "id", "platform", "secretHash");
const selectProof = statement((q) => q.select(proof).from(pushRegistrations).where(byId(pushRegistrations)));
const hasTarget = and(ofStore(pushRegistrations), equals(pushRegistrations.targetKey, "targetKey"));
const selectKnown = statement((q) => q.select(proof).from(pushRegistrations).where(hasTarget));

const isSameTarget = sql`(${param("targetKey")} is null
  or (target_key = ${param("targetKey")} and proof_key is ${param("proofKey")}))`;
const updateOwn = statement(sql`
  update ${pushRegistrations} set lang = coalesce(${param("lang")}, lang), updated_at = ${param("now")},
    target = coalesce(${param("target")}, target), target_key = coalesce(${param("targetKey")}, target_key),
    proof_key = case when ${param("targetKey")} is null then proof_key else ${param("proofKey")} end,
    is_proven = case when ${isSameTarget} then is_proven else 0 end
  where ${isOwn}`);
const removeOwn = statement(sql`delete from ${pushRegistrations} where ${isOwn}`);
/** Values that a client needs before it registers: the key that browsers subscribe with, and the platforms of this server. */
export async function describeOffer(ctx: Ctx): Promise<PushOffer> {
  const vapid_public_key = await findVapidPublicKey(ctx);
  const platforms = (["web", "ios", "android"] as const).map((platform) => ({
    platform,
    delivery: platform === "web" && vapid_public_key === null ? ("off" as const) : deliveryOf(ctx, platform),
  }));
  return { vapid_public_key, platforms };
}

/**
 * Registers a browser or device. If its endpoint or token is registered already, that registration gets a new secret,
 * and its user, language and topics are replaced. `subject`, the `user_id` that an app key sent, is refused.
 * @throws unavailable without the server's key, validationFailed, tooManyRequests (also after 20 new devices of an address
 * within an hour), tokenExpired when the token has ended meanwhile, wrongState for too many devices, conflict when the
 * endpoint is registered with other keys and `management_secret` is not that registration's.
 */
export async function registerDevice(
  ctx: Ctx,
  input: RegistrationInput & Record<"lang" | "subject", string | undefined>,
): Promise<CreatedRegistration & { isNew: boolean }> {
  const { lang, subject, platform, topics, management_secret: knownSecret, ...given } = input;
  refuseSubject(subject);
  const { allowPrivate } = ctx.push ?? defaultPushOptions;
  const target = parseTarget(platform, given, allowPrivate);
  const keys = keysOf(ctx, platform, target);
  await countDeviceWrite(ctx, keys.targetKey);
  const freshId = newId("reg");
  const secret = newSecret("rsec_");
  const { userId = null, tokenId = null } = ctx.actor.kind === "user" ? ctx.actor : {};
  return inTransaction(ctx, async (tx) => {
    const stored = await get(tx.db, selectKnown, { tenantId: tx.tenant.id, targetKey: keys.targetKey });
    if (!stored) await countNewDevice(tx);
    const known = knownSecret !== undefined && isManagementSecret(knownSecret, stored?.secretHash) ? stored : undefined;
    const id = known?.id ?? freshId;
    const values = {
      ...keys,
      id,
      tenantId: tx.tenant.id,
      platform,
      target: sealTarget(tx.vault, id, target),
      userId,
      tokenId,
      lang: lang ?? null,
      topics: JSON.stringify([...new Set(topics)]),
      secretHash: hashSecret(secret),
      knownHash: known?.secretHash ?? null,
      isStored: stored ? 1 : 0,
      language: tx.tenant.language,
      now: toTimestamp(tx.now()),
    };
    const [, , , found, token] = await tx.db.batch([
      bind(upsert, values),
      bind(clearTopics, values),
      bind(writeTopics, values),
      bind(selectOwn, values),
      bind(selectLive, values),
      ...(userId === null ? [] : [bind(removeOldest, values)]),
    ]);
    const [row] = rowsOf(selectOwn, found);
    if (row) return { ...withDelivery(tx, row), management_secret: secret, isNew: !stored };
    throw refusalOf(rowsOf(selectLive, token)[0]?.isLive === true, stored !== undefined);
  });
}

/** Why a registration was not written. */
function refusalOf(isTokenLive: boolean, isStored: boolean) {
  if (!isTokenLive) return tokenExpired();
  if (!isStored) return wrongState(`The store has ${maxOfStore} registered devices, the maximum.`);
  return conflict("This endpoint is registered with other keys. Send the `management_secret` of that registration.");
}

function withDelivery<Row extends { platform: PushPlatform }>(ctx: Ctx, row: Row) {
  return { ...row, delivery: deliveryOf(ctx, row.platform) };
}

/** Users are not counted, since each has a maximum of devices. */
async function countNewDevice(ctx: Ctx): Promise<void> {
  if (ctx.actor.kind === "user" || ctx.tenant.addressWrites === 0) return;
  const subject = addressSubject(ctx.vault, ctx.client?.ip, ctx.tenant.id);
  await consumeLimit(ctx, newDevices, subject, "Too many new devices from this address.");
}

/**
 * Changes a registration for its own device.
 * @throws validationFailed, tooManyRequests, notFound for a wrong secret, conflict when the new target has another.
 */
export async function changeRegistration(
  ctx: Ctx,
  id: string,
  { lang, topics, management_secret: secret, ...given }: RegistrationPatch & { lang: string | undefined },
): Promise<Registration> {
  const { platform, own } = await authenticateOwn(ctx, id, secret);
  const renewed = given.subscription !== undefined || given.token !== undefined;
  const target = renewed ? parseTarget(platform, given, (ctx.push ?? defaultPushOptions).allowPrivate) : null;
  const values = {
    ...own,
    ...(target && keysOf(ctx, platform, target)),
    target: target && sealTarget(ctx.vault, id, target),
    lang: lang ?? null,
    topics: JSON.stringify([...new Set(topics)]),
    language: ctx.tenant.language,
    now: toTimestamp(ctx.now()),
  };
  const statements = [
    bind(updateOwn, values),
    ...(topics === undefined ? [] : [bind(clearTopics, values), bind(writeTopics, values)]),
    bind(selectOwn, values),
  ];
  try {
    const [row] = rowsOf(selectOwn, (await ctx.db.batch(statements)).at(-1));
    if (!row) throw notFound("registration");
    return withDelivery(ctx, row);
  } catch (error) {
    if (!isUniqueViolation(error)) throw error;
    throw conflict("The new endpoint or token already has another registration. Remove one of the two.");
  }
}

/** Removes a registration for its own device. Errors: validationFailed, tooManyRequests, notFound for a wrong secret. */
export async function removeOwnRegistration(ctx: Ctx, id: string, secret: string | undefined): Promise<void> {
  const { own } = await authenticateOwn(ctx, id, secret);
  if ((await run(ctx.db, removeOwn, own)) === 0) throw notFound("registration");
}

/** Checks that a caller may change a registration. An unknown id and a wrong secret give the same error. */
async function authenticateOwn(ctx: Ctx, id: string, secret: string | undefined) {
  if (secret === undefined) throw invalidField("management_secret", "is required");
  if (!isId("reg", id)) throw notFound("registration");
  await countDeviceWrite(ctx, id);
  const tenantId = ctx.tenant.id;
  const row = await get(ctx.db, selectProof, { tenantId, id });
  if (!isManagementSecret(secret, row?.secretHash) || !row) throw notFound("registration");
  const own = { tenantId, id, secretHash: hashSecret(secret), targetKey: null, proofKey: null };
  return { platform: row.platform, own };
}
