import type { Shop } from "./factories.ts";

/** A user in a reply. */
export interface UserReply {
  id: string;
  email: string;
  pending_email: string | null;
  name: string | null;
  phone: string | null;
  lang: string | null;
  role: "customer" | "staff" | "owner";
  status: "active" | "disabled";
  email_verified: boolean;
  addresses: Record<string, unknown>[];
  metadata: Record<string, unknown>;
  two_factor_enabled: boolean;
  last_login_at: string | null;
  version: number;
  created_at: string;
  updated_at: string;
}

let made = 0;

/** Creates a user through the API, with the shop's key. */
export async function makeUser({ call }: Shop, fields: Record<string, unknown> = {}): Promise<UserReply> {
  made += 1;
  const body = { email: `someone-${made}@example.com`, ...fields };
  const { status, data, text } = await call<UserReply>("POST /users/", { body });
  if (status !== 201) throw new Error(`The user was not made: ${text}`);
  return data;
}

/** Returns all users of a shop, read with its key. */
export async function readUsers({ call }: Shop): Promise<UserReply[]> {
  return (await call<UserReply[]>("GET /users/", { query: { limit: 100, sort: "email" } })).data;
}

/** Returns entries of a shop's audit log, oldest first. `details` are as stored. */
export async function readAudit({
  app,
  namespace,
}: Shop): Promise<{ event: string; subject: string; details: unknown }[]> {
  const sql = "select event, subject, details from audit_log where namespace = ? order by seq";
  const { rows } = await app.db.execute({ sql, args: [namespace] });
  return rows.map((row) => ({
    event: String(row.event),
    subject: String(row.subject),
    details: row.details === null ? null : JSON.parse(String(row.details)),
  }));
}
