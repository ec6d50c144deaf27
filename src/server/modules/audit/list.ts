import { type SQL, sql } from "drizzle-orm";
import type { SystemCtx } from "../../context.ts";
import { all, param, statement } from "../../db/statement.ts";
import { invalidField } from "../../errors.ts";
import { requireWhole } from "../../values/fields.ts";
import { users } from "../users/table.ts";
import { type AuditFacts, auditEvents } from "./service.ts";
import { auditLog } from "./table.ts";

const defaultLimit = 50;
const maxRows = 1000;

export type AuditRecord = Omit<AuditFacts, "details" | "address_hash"> & {
  seq: number;
  address: string | null;
  details: Record<string, unknown> | null;
  hash: string;
  /** Emails of the actor and the subject, if they are users that still exist. */
  actor_email: string | null;
  subject_email: string | null;
};

/** `actor` is the id of a key or user, or an account of the operating system; `before` is the `seq` of a row. */
export type AuditFilter = Partial<
  Record<"namespace" | "event" | "actor" | "subject" | "address" | "since" | "until", string>
> & { actorKind?: "app" | "user" | "visitor" | "terminal"; failures?: boolean; before?: number; limit?: number };

const emailOf = (column: string) => sql`(select email from ${users} where id = ${auditLog}.${sql.raw(column)})`;

const conditions: Record<string, SQL> = {
  namespace: sql`namespace = ${param("namespace")}`,
  events: sql`event in (select value from json_each(${param("events")}))`,
  actor: sql`actor_id = ${param("actor")}`,
  actorKind: sql`actor_kind = ${param("actorKind")}`,
  subject: sql`subject = ${param("subject")}`,
  address: sql`address = ${param("address")}`,
  since: sql`at >= ${param("since")}`,
  until: sql`at < ${param("until")}`,
  failures: sql`code is not null`,
  before: sql`seq < ${param("before")}`,
};

/**
 * Returns rows of the audit log, newest first. For the next page, pass the `seq` of the last row as `before`.
 * @throws validationFailed for an unknown event or a limit out of range.
 */
export async function listAudit(ctx: SystemCtx, filter: AuditFilter = {}): Promise<AuditRecord[]> {
  const { event, failures, limit = defaultLimit, ...others } = filter;
  requireWhole("limit", limit, 1, maxRows);
  const given: Record<string, unknown> = {
    ...others,
    events: event === undefined ? undefined : JSON.stringify(parseEvents(event)),
    failures: failures || undefined,
  };
  const wanted = Object.entries(conditions).flatMap(([name, condition]) =>
    given[name] === undefined ? [] : [condition],
  );
  // A command runs this statement only once, so it is not cached.
  const rows = await all(
    ctx.db,
    statement<Omit<AuditRecord, "details"> & { details: string | null }>(sql`
      select seq, at, event, namespace, actor_kind, actor_id, subject, address, request_id, code, details, hash, ${emailOf("actor_id")} as actor_email, ${emailOf("subject")} as subject_email
      from ${auditLog} ${wanted.length === 0 ? sql`` : sql`where ${sql.join(wanted, sql` and `)}`}
      order by seq desc limit ${param("limit")}`),
    { ...given, limit },
  );
  return rows.map((row) => ({ ...row, details: row.details === null ? null : JSON.parse(row.details) }));
}

/** Returns the events that a name or a pattern, such as `login.*`, matches, because SQLite's index finds only names. */
function parseEvents(text: string): string[] {
  const found = auditEvents.filter((name) => (text.endsWith("*") ? name.startsWith(text.slice(0, -1)) : name === text));
  if (found.length > 0) return found;
  const groups = [...new Set(auditEvents.map((name) => `${name.split(".")[0]}.*`))];
  throw invalidField("event", `must be an event, such as login.failed, or one of the groups ${groups.join(", ")}`);
}
