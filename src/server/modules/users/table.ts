import { sql } from "drizzle-orm";
import { check, index, integer, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";
import { tenantIdColumn } from "../tenants/table.ts";

export const imported = sql.raw("password_hash not like '$argon2id$v=19$m=19456,t=2,p=1$%'");

export const users = sqliteTable(
  "users",
  {
    id: text("id").primaryKey(),
    tenantId: tenantIdColumn(),
    email: text("email").notNull(),
    /** The email in the form that is compared, so that upper and lower case make no second account. */
    emailKey: text("email_key").notNull(),
    /** A new email that replaces `email` once the user enters the mailed code. */
    pendingEmail: text("pending_email"),
    name: text("name"),
    nameKey: text("name_key"),
    phone: text("phone"),
    lang: text("lang"),
    role: text("role", { enum: ["customer", "staff", "owner"] }).notNull(),
    status: text("status", { enum: ["active", "disabled"] }).notNull(),
    emailVerified: integer("email_verified", { mode: "boolean" }).notNull().default(false),
    /** Whether a stranger may have created the account: with open sign-up, nobody verifies the address. */
    isUnproven: integer("is_unproven", { mode: "boolean" }).notNull().default(false),
    addresses: text("addresses").notNull().default("[]"),
    metadata: text("metadata").notNull().default("{}"),
    /** Argon2id in the PHC form, or an imported hash until the next login; null without a password. */
    passwordHash: text("password_hash"),
    passwordChangedAt: text("password_changed_at"),
    lastLoginAt: text("last_login_at"),
    version: integer("version").notNull().default(1),
    createdAt: text("created_at").notNull(),
    updatedAt: text("updated_at").notNull(),
  },
  (t) => [
    uniqueIndex("users_email").on(t.tenantId, t.emailKey),
    index("users_by_created").on(t.tenantId, t.createdAt, t.id),
    // A login looks up whether the store has imported hashes.
    index("users_imported").on(t.tenantId, t.passwordHash).where(imported),
    index("users_by_name").on(t.tenantId, t.nameKey, t.id),
    index("users_by_status").on(t.tenantId, t.status, t.createdAt, t.id),
    index("users_by_role").on(t.tenantId, t.role, t.createdAt, t.id),
    check("users_role", sql`${t.role} in ('customer', 'staff', 'owner')`),
    check("users_status", sql`${t.status} in ('active', 'disabled')`),
    check("users_metadata_size", sql`length(cast(${t.metadata} as blob)) <= 16384`),
    check("users_json", sql`json_valid(${t.addresses}) and json_valid(${t.metadata})`),
  ],
);
