import type { InStatement } from "@libsql/core/api";
import { type SQL, sql } from "drizzle-orm";
import type { Ctx, SystemCtx, WorkCtx } from "../../context.ts";
import type { Result } from "../../db/session.ts";
import { bind, param, purgeBatch, rowsOf, run, statement } from "../../db/statement.ts";
import { codeOf, type ErrorKind } from "../../errors.ts";
import { newSecret, toTimestamp } from "../../values/stamps.ts";
import { users } from "../users/table.ts";
import { auditLog } from "./table.ts";

/** The columns that a row's hash covers, in this order. `address` is not among them, because it can be erased. */
const facts = [
  ...(["at", "event", "namespace", "actor_kind", "actor_id"] as const),
  ...(["subject", "address_hash", "request_id", "code", "details"] as const),
];
const written = [...facts, "address", "address_salt", "hash"];
export const auditColumns = sql.raw([...facts, "address", "address_salt"].join(", "));

// If a user is erased while their request runs, the row that the request writes contains no address.
const isKnownActor = sql`(${param("actor_kind")} <> 'user'
  or exists (select 1 from ${users} where id = ${param("actor_id")}))`;
const insertRow = statement(sql`
  insert into ${auditLog} (${sql.raw(written.join(", "))})
  select ${sql.join(
    written.map((name) =>
      /^address(_salt)?$/.test(name) ? sql`iif(${isKnownActor}, ${param(name)}, null)` : param(name),
    ),
    sql`, `,
  )}`);
const eraseWhere = (condition: SQL) =>
  statement(
    sql`update ${auditLog} set address = null, address_salt = null where address is not null and seq in (${condition})`,
  );
const eraseOf = eraseWhere(sql`
  select seq from ${auditLog} where subject = ${param("id")} union select seq from ${auditLog} where actor_id = ${param("id")}`);
const eraseOld = eraseWhere(sql`
  select seq from ${auditLog} where address is not null and at <= ${param("before")} limit ${sql.raw(String(purgeBatch))}`);

/** Erases the IP addresses in rows about a user and in rows that the user caused. The hash chain stays valid. */
export async function eraseAddressesOf(tx: Ctx, id: string): Promise<void> {
  await run(tx.db, eraseOf, { id });
}

/** Erases IP addresses older than `keptMs` milliseconds, at most a thousand per call. Returns how many. */
export function eraseOldAddresses(ctx: WorkCtx, keptMs: number): Promise<number> {
  return run(ctx.db, eraseOld, { before: toTimestamp(ctx.now() - keptMs) });
}

export interface AuditEntry {
  event: AuditEvent;
  subject?: string | undefined;
  /** The namespace of the store that the event concerns, if the caller acts outside a store. */
  namespace?: string | undefined;
  error?: ErrorKind | undefined;
  details?: Record<string, unknown> | undefined;
}

type AuditCtx = Omit<SystemCtx, "vault"> & { tenant?: Ctx["tenant"] };

/** Writes one row of the audit log. `auditLinking` links it to the previous row before the COMMIT. */
export async function recordAudit(ctx: AuditCtx, entry: AuditEntry): Promise<void> {
  await ctx.db.execute(bindAudit(ctx, entry));
}

export function bindAudit(ctx: AuditCtx, entry: AuditEntry): InStatement {
  return bind(insertRow, {
    at: toTimestamp(ctx.now()),
    event: entry.event,
    namespace: ctx.tenant?.namespace ?? entry.namespace ?? null,
    actor_kind: ctx.actor.kind,
    actor_id: actorId(ctx.actor),
    subject: entry.subject ?? null,
    ...hideAddress(ctx.client?.ip),
    request_id: ctx.requestId,
    code: entry.error === undefined ? null : codeOf(entry.error),
    details: entry.details === undefined ? null : JSON.stringify(entry.details),
    hash: "",
  });
}

function hideAddress(address: string | null | undefined) {
  if (address == null) return { address: null, address_salt: null, address_hash: null };
  const address_salt = newSecret("");
  return { address, address_salt, address_hash: hashAddress(address_salt, address) };
}

/** Returns the SHA-256 of salt and address, in hex. Once the salt is erased, trying all IPv4 addresses finds nothing. */
export function hashAddress(salt: string, address: string): string {
  return Bun.SHA256.hash(`${salt} ${address}`, "hex");
}

/** Returns the id of an app key or user, or the account at the terminal; null for other actors. */
export function actorId(actor: SystemCtx["actor"]): string | null {
  if (actor.kind === "app") return actor.appId;
  if (actor.kind === "user") return actor.userId;
  return actor.kind === "terminal" ? (actor.account ?? null) : null;
}

const acts = {
  login: ["succeeded", "failed", "code_required", "mail_code_requested"],
  attempts: ["refused"],
  token: ["refreshed", "revoked"],
  user: [
    ...["created", "updated", "deleted", "disabled", "enabled", "role_changed", "email_changed", "email_change_failed"],
    ...["invited", "exported", "erased", "erase_failed", "sign_up_requested", "sign_up_failed"],
  ],
  password: ["changed", "change_failed", "reset_requested", "reset", "reset_failed"],
  two_factor: ["begun", "enabled", "disabled", "failed", "reset", "recovery_codes_made", "recovery_code_used"],
  key: ["issued", "updated", "published", "unpublished", "activated", "deactivated", "rotated", "retired", "revoked"],
  origins: ["changed"],
  tenant: ["created", "updated", "suspended", "resumed", "deleted"],
  rewards: ["adjusted"],
  mail: ["retried", "tested", "text_changed", "resent"],
  notification: ["sent"],
  registration: ["removed"],
  shipping: ["replaced"],
  taxes: ["replaced"],
  discount: ["created", "ended"],
  payment: ["connected", "disconnected"],
  webhook: ["added", "removed", "replayed", "rotated"],
  database: ["backed_up", "migrated", "rekeyed", "restored"],
  doctor: ["fixed"],
} as const;
type Acts = typeof acts;
export type AuditEvent = { [Group in keyof Acts]: `${Group}.${Acts[Group][number]}` }[keyof Acts];
export const auditEvents = Object.entries(acts).flatMap(([group, names]) => names.map((name) => `${group}.${name}`));

export type AuditFacts = Record<"at" | "event" | "actor_kind" | "request_id", string> &
  Record<"namespace" | "actor_id" | "subject" | "address_hash" | "details", string | null> & { code: number | null };

/** Returns the SHA-256 of a row and of the previous row's hash (empty for the first row), in hex. */
export function hashRow(previous: string, row: AuditFacts): string {
  const text = JSON.stringify([previous, ...facts.map((name) => row[name])]);
  return Buffer.from(Bun.SHA256.hash(text) as Uint8Array).toString("hex");
}

const lastLinked = sql`from ${auditLog} where hash <> '' order by seq desc limit 1`;
// Only the newest rows have no hash, so neither `select` scans the log.
const selectAdded = statement<AuditFacts & { seq: number; previous: string | null }>(sql`
  select seq, ${auditColumns}, (select hash ${lastLinked}) as previous
  from ${auditLog} where seq > coalesce((select seq ${lastLinked}), 0) order by seq`);
const setHash = statement(sql`update ${auditLog} set hash = ${param("hash")} where seq = ${param("seq")}`);

/** Links new rows of the audit log before their COMMIT: each gets a hash over itself and the previous row's hash. */
export const auditLinking = {
  get read() {
    return bind(selectAdded);
  },
  finish(result: Result | undefined): InStatement[] {
    let previous: string | undefined;
    return rowsOf(selectAdded, result).map((row) => {
      previous = hashRow(previous ?? row.previous ?? "", row);
      return bind(setHash, { seq: row.seq, hash: previous });
    });
  },
};
