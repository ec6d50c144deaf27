import { sql } from "drizzle-orm";
import { twoFactor } from "../two-factor/table.ts";
import type { User } from "./model.ts";
import { users } from "./table.ts";

/** SQL for a user as JSON text, in the order of the API; for statements on the table without an alias. */
export const userJson = sql`json_object(
  'id', id, 'email', email, 'name', name, 'phone', phone, 'lang', lang, 'role', role, 'status', status,
  'email_verified', json(iif(email_verified, 'true', 'false')), 'addresses', json(addresses),
  'metadata', json(metadata), 'two_factor_enabled', json(iif(exists (
    select 1 from ${twoFactor} f where f.user_id = ${users}.id and f.confirmed_at is not null), 'true', 'false')),
  'last_login_at', last_login_at, 'version', version, 'created_at', created_at, 'updated_at', updated_at)`;

/** A row with one user as JSON. */
export interface RenderedUser {
  json: string;
}

/** The user in a row that was selected with `userJson`. */
export function toUser({ json }: RenderedUser): User {
  return JSON.parse(json) as User;
}
