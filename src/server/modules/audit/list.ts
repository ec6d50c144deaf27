import { and, desc, type SQL, sql } from "drizzle-orm";
import type { SQLiteColumn } from "drizzle-orm/sqlite-core";
import type { SystemCtx } from "../../context.ts";
import { jsonOf, pickStored } from "../../db/selection.ts";
import { all, param, statement } from "../../db/statement.ts";
import { invalidField } from "../../errors.ts";
import { requireWhole } from "../../values/fields.ts";
import { users } from "../users/table.ts";
import { auditEvents } from "./service.ts";
import { auditLog } from "./table.ts";

const defaultLimit = 50;
const maxRows = 1000;

export type AuditRecord = Awaited<ReturnType<typeof listAudit>>[number];

/** `actor` is the id of a key or user, or an account of the operating system; `before` is the `seq` of a row. */
export type AuditFilter = Partial<
  Record<"namespace" | "event" | "actor" | "subject" | "address" | "since" | "until", string>
> & { actorKind?: "app" | "user" | "visitor" | "terminal"; failures?: boolean; before?: number; limit?: number };

/** Selects the email of the actor or the subject. It is null unless that is an existing user. */
const emailOf = (column: SQLiteColumn) => sql<string | null>`(select email from ${users} where id = ${column})`;
const shown = {
  ...pickStored(auditLog, "seq", "at", "event", "namespace", "actorKind", "actorId", "subject", "address"),
  ...pickStored(auditLog, "requestId", "code"),
  details: jsonOf<Record<string, unknown> | null>(auditLog.details),
  hash: auditLog.hash,
  ...{ actor_email: emailOf(auditLog.actorId), subject_email: emailOf(auditLog.subject) },
};

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
export async function listAudit(ctx: SystemCtx, filter: AuditFilter = {}) {
  const { event, failures, limit = defaultLimit, ...others } = filter;
  requireWhole("limit", limit, 1, maxRows);
  const given: Record<string, unknown> = {
    ...others,
    events: event === undefined ? undefined : JSON.stringify(parseEvents(event)),
    failures: failures || undefined,
  };
  const wanted = Object.keys(conditions).filter((name) => given[name] !== undefined);
  // A command runs this statement only once, so it is not cached.
  const select = statement((q) =>
    q
      .select(shown)
      .from(auditLog)
      .where(and(...wanted.map((name) => conditions[name])))
      .orderBy(desc(auditLog.seq))
      .limit(limit),
  );
  return all(ctx.db, select, given);
}

/** Expands a name or a pattern, such as `login.*`, to names of events, because the index can find only whole names. */
function parseEvents(text: string): string[] {
  const found = auditEvents.filter((name) => (text.endsWith("*") ? name.startsWith(text.slice(0, -1)) : name === text));
  if (found.length > 0) return found;
  const groups = [...new Set(auditEvents.map((name) => `${name.split(".")[0]}.*`))];
  throw invalidField("event", `must be an event, such as login.failed, or one of the groups ${groups.join(", ")}`);
}
