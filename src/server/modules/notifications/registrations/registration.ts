import { sql } from "drizzle-orm";
import { defaultPushOptions } from "../../../config/push-config.ts";
import type { Ctx } from "../../../context.ts";
import { bind, get, param, statement } from "../../../db/statement.ts";
import { conflict } from "../../../errors.ts";
import { newId } from "../../../values/ids.ts";
import { toTimestamp } from "../../../values/timestamp.ts";
import { noSuchUser } from "../../users/guards.ts";
import { users } from "../../users/table.ts";
import { refuseSubject } from "../../visitors/actor.ts";
import { sealTarget } from "../providers/target.ts";
import { pushRegistrations, pushTopics } from "../table.ts";
import { hashManagementSecret, isManagementSecret, newManagementSecret } from "./management-secret.ts";
import type { NewRegistration, RegistrationInput } from "./registration-model.ts";
import {
  countDeviceWrite,
  keysOf,
  type RegistrationRow,
  registrationColumns,
  toRegistration,
} from "./registration-record.ts";
import { parseTarget } from "./target-input.ts";

/** Most devices of one user: each is told of every order, and strangers' addresses can be among them. */
const maxOfUser = 50;

const hasUser = sql`(${param("userId")} is null
  or exists (select 1 from ${users} where tenant_id = ${param("tenantId")} and id = ${param("userId")}))`;
const isSame = sql`proof_key is excluded.proof_key`;
// Who has the keys has the browser; with other keys the present secret is needed. The same keys keep what was sealed.
const upsert = statement<{ id: string }>(sql`
  insert into ${pushRegistrations} (id, tenant_id, platform, target_key, proof_key, target, user_id, lang, secret_hash,
    created_at, updated_at)
  select ${param("id")}, ${param("tenantId")}, ${param("platform")}, ${param("targetKey")}, ${param("proofKey")},
    ${param("target")}, ${param("userId")}, ${param("lang")}, ${param("secretHash")}, ${param("now")}, ${param("now")}
  where ${hasUser}
  on conflict (tenant_id, target_key) do update set
    target = case when ${isSame} then target else excluded.target end,
    is_proven = case when ${isSame} then is_proven else 0 end, proof_key = excluded.proof_key,
    user_id = excluded.user_id, lang = excluded.lang, secret_hash = excluded.secret_hash, updated_at = excluded.updated_at
  where ${isSame} or (id = excluded.id and secret_hash = ${param("knownHash")})
  returning id`);

// Nobody but the writer of the row knows what its secret hashes to.
const written = sql`(select id from ${pushRegistrations} where tenant_id = ${param("tenantId")}
  and target_key = ${param("targetKey")} and secret_hash = ${param("secretHash")})`;
const clearTopics = statement(sql`
  delete from ${pushTopics} where tenant_id = ${param("tenantId")} and registration_id in ${written}`);
const writeTopics = statement(sql`
  insert into ${pushTopics} (tenant_id, topic, registration_id)
  select ${param("tenantId")}, t.value, r.id from json_each(${param("topics")}) t, ${written} r`);
const removeOldest = statement(sql`
  delete from ${pushRegistrations} where id in (
    select id from ${pushRegistrations} where user_id = ${param("userId")} and tenant_id = ${param("tenantId")}
    order by secret_hash = ${param("secretHash")} desc, updated_at desc, id desc
    limit -1 offset ${sql.raw(String(maxOfUser))})`);
const selectWritten = statement<RegistrationRow>(sql`
  select ${registrationColumns} from ${pushRegistrations} r where r.id in ${written}`);
const selectUser = statement<{ hasUser: number }>(sql`select ${hasUser} as hasUser`);
const selectKnown = statement<{ id: string; secretHash: string }>(sql`
  select id, secret_hash as secretHash from ${pushRegistrations}
  where tenant_id = ${param("tenantId")} and target_key = ${param("targetKey")}`);

/** What registers a device, with the language asked for and `user_id` beside app credentials, which is refused. */
export interface RegistrationRequest extends RegistrationInput {
  lang: string | undefined;
  subject: string | undefined;
}

/**
 * Registers a browser or device, which is found again by its endpoint or token. One that is there already gets a new
 * secret, and what is said now takes the place of what was said then, whose it is included.
 * @returns the registration with its secret, shown this once, and whether it is new.
 * @throws unavailable without the server's key, validationFailed naming the field, tooManyRequests, notFound when the user is gone, conflict where
 * the endpoint is registered with other keys and `management_secret` is not the one of that.
 */
export async function registerDevice(
  ctx: Ctx,
  { lang, subject, platform, topics = [], management_secret: knownSecret, ...given }: RegistrationRequest,
): Promise<NewRegistration & { isNew: boolean }> {
  refuseSubject(subject);
  const { allowPrivate } = ctx.push ?? defaultPushOptions;
  const target = parseTarget(platform, given, allowPrivate);
  const keys = keysOf(ctx, platform, target);
  await countDeviceWrite(ctx, keys.targetKey);
  const known = knownSecret === undefined ? undefined : await findOwn(ctx, keys.targetKey, knownSecret);
  const id = known?.id ?? newId("reg");
  const secret = newManagementSecret();
  const userId = ctx.actor.kind === "user" ? ctx.actor.userId : null;
  const values = {
    ...keys,
    id,
    tenantId: ctx.tenant.id,
    platform,
    target: sealTarget(ctx.vault, id, target),
    userId,
    lang: lang ?? null,
    topics: JSON.stringify([...new Set(topics)]),
    secretHash: hashManagementSecret(secret),
    knownHash: known?.secretHash ?? null,
    now: toTimestamp(ctx.now()),
  };
  const [, , , found, standing] = await ctx.db.batch([
    bind(upsert, values),
    bind(clearTopics, values),
    bind(writeTopics, values),
    bind(selectWritten, values),
    bind(selectUser, values),
    ...(userId === null ? [] : [bind(removeOldest, values)]),
  ]);
  const row = found?.rows[0] as unknown as RegistrationRow | undefined;
  if (row) return { ...toRegistration(ctx, row), management_secret: secret, isNew: !known && row.id === id };
  const user = standing?.rows[0] as unknown as { hasUser: number };
  if (!user.hasUser) throw noSuchUser();
  throw conflict("This endpoint is registered with other keys; the `management_secret` of that is needed.");
}

/** The registration of a target, where the secret is its own. */
async function findOwn(ctx: Ctx, targetKey: string, secret: string) {
  const row = await get(ctx.db, selectKnown, { tenantId: ctx.tenant.id, targetKey });
  return isManagementSecret(secret, row?.secretHash) ? row : undefined;
}
