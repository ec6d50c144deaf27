import { timingSafeEqual } from "node:crypto";
import { and, sql } from "drizzle-orm";
import type { Ctx } from "../../../context.ts";
import { isUniqueViolation } from "../../../db/db-errors.ts";
import { pick } from "../../../db/selection.ts";
import { bind, byId, equals, get, ofStore, type Params, param, rowsOf, run, statement } from "../../../db/statement.ts";
import { inTransaction } from "../../../db/transaction.ts";
import { conflict, notFound, tokenExpired, wrongState } from "../../../errors.ts";
import { hashSecret, isId, newId, newSecret, toTimestamp } from "../../../values/stamps.ts";
import { countPublicWrite } from "../../rate-limits/public-writes.ts";
import { callerSubject, consumeLimit, type RateLimit } from "../../rate-limits/service.ts";
import { tenants } from "../../tenants/table.ts";
import { userTokens } from "../../tokens/table.ts";
import { refuseSubject } from "../../visitors/actor.ts";
import { isSent, sealTarget, type Target } from "../providers/provider.ts";
import { makeVapidKeys } from "../providers/vapid.ts";
import { type PushPlatform, pushCounts, pushRegistrations, pushTopics } from "../table.ts";
import type { Registration, RegistrationInput, RegistrationPatch } from "./registration-model.ts";
import { removeById, shownRegistration } from "./registrations.ts";
import { parseTarget } from "./target-input.ts";

/** Maximum devices of a user. Each order notifies all of them, and a user could register endpoints of strangers. */
const maxOfUser = 50;
const maxOfStore = 100_000;
/** Limits new devices without an account, per IP address and store, because each device is stored for months. */
const newDevices: RateLimit = { name: "devices", max: 20, windowMs: 3_600_000 };

const stored = pick(pushRegistrations, "id", "platform", "targetKey", "proofKey", "secretHash");
const hasTarget = and(ofStore(pushRegistrations), equals(pushRegistrations.targetKey, "targetKey"));
const selectByTarget = statement((q) => q.select(stored).from(pushRegistrations).where(hasTarget));
const selectById = statement((q) => q.select(stored).from(pushRegistrations).where(byId(pushRegistrations)));
const registrable = {
  // Checks the token again. Revoking it detaches the user's devices, and may have happened after authentication.
  isLive: sql`(${param("userId")} is null or exists (select 1 from ${userTokens}
    where tenant_id = ${param("tenantId")} and user_id = ${param("userId")} and id = ${param("tokenId")}
      and ended_at is null))`.mapWith(Boolean),
  isFull: sql`exists (select 1 from ${pushCounts}
    where tenant_id = ${param("tenantId")} and registrations >= ${sql.raw(String(maxOfStore))})`.mapWith(Boolean),
};
const selectState = statement((q) => q.select(registrable).from(tenants).where(equals(tenants.id, "tenantId")));
const put = statement(sql`
  insert into ${pushRegistrations} (id, tenant_id, platform, target_key, proof_key, target, user_id, lang, secret_hash,
    created_at, updated_at)
  values (${param("id")}, ${param("tenantId")}, ${param("platform")}, ${param("targetKey")}, ${param("proofKey")},
    ${param("target")}, ${param("userId")}, ${param("lang")}, ${param("secretHash")}, ${param("now")}, ${param("now")})
  on conflict (tenant_id, target_key) do update set target = excluded.target, user_id = excluded.user_id,
    is_proven = iif(proof_key is excluded.proof_key, is_proven, 0), proof_key = excluded.proof_key,
    lang = excluded.lang, secret_hash = excluded.secret_hash, updated_at = excluded.updated_at`);
const change = statement(sql`
  update ${pushRegistrations} set lang = coalesce(${param("lang")}, lang), updated_at = ${param("now")},
    target = coalesce(${param("target")}, target), target_key = ${param("targetKey")}, proof_key = ${param("proofKey")},
    is_proven = iif(target_key = ${param("targetKey")} and proof_key is ${param("proofKey")}, is_proven, 0)
  where tenant_id = ${param("tenantId")} and id = ${param("id")}`);
const clearTopics = statement(sql`
  delete from ${pushTopics} where tenant_id = ${param("tenantId")} and registration_id = ${param("id")}`);
const writeTopics = statement(sql`
  insert into ${pushTopics} (tenant_id, topic, registration_id)
  select ${param("tenantId")}, value, ${param("id")} from json_each(${param("topics")})`);
const shown = { id: pushRegistrations.id, ...shownRegistration };
const selectShown = statement((q) => q.select(shown).from(pushRegistrations).where(byId(pushRegistrations)));
const removeOldest = statement(sql`
  delete from ${pushRegistrations} where id in (
    select id from ${pushRegistrations} where user_id = ${param("userId")} and tenant_id = ${param("tenantId")}
    order by id = ${param("id")} desc, updated_at desc, id desc limit -1 offset ${sql.raw(String(maxOfUser))})`);

const deliveryOf = (platform: PushPlatform) => (isSent(platform) ? "on" : "off");

/**
 * Returns keyed hashes of a target, which differ in each store. `targetKey` finds the registration. `proofKey` is a
 * hash of a browser's keys: a caller with the same keys may register the endpoint again. It is null for tokens.
 * @throws unavailable without the server's key.
 */
function keysOf({ vault, tenant }: Ctx, platform: PushPlatform, target: Target) {
  const hash = (kind: string, ...texts: string[]) => vault.mac("push", [kind, tenant.id, ...texts].join("\n"));
  if ("token" in target) return { targetKey: hash("target", platform, target.token), proofKey: null };
  const { endpoint, keys } = target;
  return { targetKey: hash("target", platform, endpoint), proofKey: hash("proof", keys.p256dh, keys.auth) };
}

/** Compares a secret, which may be undefined, with a stored hash in constant time. */
function isManagementSecret(secret = "", stored: string | undefined): boolean {
  const given = Buffer.from(hashSecret(secret));
  return timingSafeEqual(given, Buffer.from(stored ?? "-".repeat(given.length)));
}

/** Returns the values that a client needs before it registers: the key for browsers, and the platforms. */
export async function describeOffer(ctx: Ctx) {
  const { publicKey } = await makeVapidKeys(ctx);
  const all = ["web", "ios", "android"] as const;
  const platforms = all.map((platform) => ({ platform, delivery: deliveryOf(platform) }));
  return { vapid_public_key: publicKey, platforms };
}

/**
 * Registers a browser or device. If its endpoint or token is already registered, the registration gets a new secret,
 * user, language and topics. `subject`, the `user_id` that an app key sent, is refused.
 * @throws unavailable without the server's key; validationFailed; tooManyRequests, also after 20 new devices without
 * an account from one address in an hour; tokenExpired if the token has ended meanwhile; wrongState if the store has
 * too many devices; conflict if the endpoint is registered with other keys and `management_secret` is wrong.
 */
export async function registerDevice(
  ctx: Ctx,
  input: RegistrationInput & Record<"lang" | "subject", string | undefined>,
) {
  const { lang, subject, platform, topics = [], management_secret, ...given } = input;
  refuseSubject(subject);
  const target = parseTarget(platform, given, ctx.push?.allowPrivate ?? false);
  const keys = keysOf(ctx, platform, target);
  const { userId = null, tokenId = null } = ctx.actor.kind === "user" ? ctx.actor : {};
  // Writes without a user are counted for the device, because many devices use one app key.
  countPublicWrite(ctx, userId ?? keys.targetKey);
  const secret = newSecret("rsec_");
  return inTransaction(ctx, async (tx) => {
    const asked = { ...keys, tenantId: tx.tenant.id, userId, tokenId };
    const [found, state] = await tx.db.batch([bind(selectByTarget, asked), bind(selectState, asked)]);
    const [known] = rowsOf(selectByTarget, found);
    const { isLive, isFull } = rowsOf(selectState, state)[0] ?? {};
    if (!isLive) throw tokenExpired();
    if (!known) {
      if (isFull) throw wrongState(`The store has ${maxOfStore} registered devices, the maximum.`);
      await countNewDevice(tx);
    } else if (known.proofKey !== keys.proofKey && !isManagementSecret(management_secret, known.secretHash)) {
      throw conflict("This endpoint is registered with other keys. Send the `management_secret` of that registration.");
    }
    const id = known?.id ?? newId("reg");
    const values = { ...asked, id, platform, target: sealTarget(tx.vault, id, target), secretHash: hashSecret(secret) };
    const registration = await write(tx, put, { ...values, lang }, topics);
    if (userId !== null) await run(tx.db, removeOldest, values);
    return { ...registration, management_secret: secret, isNew: !known };
  });
}

/** Counts devices without an account. Devices of users are not counted, because each user has a maximum. */
async function countNewDevice(ctx: Ctx): Promise<void> {
  if (ctx.actor.kind === "user" || ctx.tenant.addressWrites === 0) return;
  await consumeLimit(ctx, newDevices, callerSubject(ctx), "Too many new devices from this address.");
}

async function write(
  tx: Ctx,
  stmt: typeof put,
  given: Params & { id: string; lang: string | undefined },
  topics: string[] | undefined,
): Promise<Registration> {
  const { id: tenantId, language } = tx.tenant;
  const more = { tenantId, language, now: toTimestamp(tx.now()), topics: JSON.stringify([...new Set(topics)]) };
  const values = { ...given, ...more, lang: given.lang ?? null };
  const results = await tx.db.batch([
    bind(stmt, values),
    ...(topics === undefined ? [] : [bind(clearTopics, values), bind(writeTopics, values)]),
    bind(selectShown, values),
  ]);
  const [row] = rowsOf(selectShown, results.at(-1));
  if (!row) throw notFound("registration");
  return { ...row, delivery: deliveryOf(row.platform) };
}

/**
 * Lets a device change its registration.
 * @throws validationFailed; tooManyRequests; notFound for a wrong secret; conflict if another device has the new
 * target.
 */
export async function changeRegistration(
  ctx: Ctx,
  id: string,
  { lang, topics, management_secret: secret, ...given }: RegistrationPatch & { lang: string | undefined },
): Promise<Registration> {
  const isRenewed = given.subscription !== undefined || given.token !== undefined;
  return withOwn(ctx, id, secret, async (tx, { platform, targetKey, proofKey }) => {
    const allowPrivate = ctx.push?.allowPrivate ?? false;
    const target = isRenewed ? parseTarget(platform, given, allowPrivate) : null;
    const keys = target ? keysOf(ctx, platform, target) : { targetKey, proofKey };
    const sealed = target && sealTarget(ctx.vault, id, target);
    return write(tx, change, { ...keys, id, target: sealed, lang }, topics);
  }).catch((error: unknown) => {
    if (!isUniqueViolation(error)) throw error;
    throw conflict("The new endpoint or token already has another registration. Remove one of the two.");
  });
}

/** Lets a device remove its registration. Errors: validationFailed, tooManyRequests, notFound for a wrong secret. */
export async function removeOwnRegistration(ctx: Ctx, id: string, secret: string): Promise<void> {
  await withOwn(ctx, id, secret, (tx) => run(tx.db, removeById, { tenantId: tx.tenant.id, id }));
}

/** Runs work on a registration if the secret is right. An unknown id gives the same error as a wrong secret. */
async function withOwn<T>(
  ctx: Ctx,
  id: string,
  secret: string,
  work: (tx: Ctx, own: NonNullable<(typeof selectById)["row"]>) => Promise<T>,
): Promise<T> {
  if (!isId("reg", id)) throw notFound("registration");
  countPublicWrite(ctx, ctx.actor.kind === "user" ? ctx.actor.userId : id);
  return inTransaction(ctx, async (tx) => {
    const own = await get(tx.db, selectById, { tenantId: tx.tenant.id, id });
    if (!isManagementSecret(secret, own?.secretHash) || !own) throw notFound("registration");
    return work(tx, own);
  });
}
