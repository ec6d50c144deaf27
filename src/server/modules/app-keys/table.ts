import { sql } from "drizzle-orm";
import { check, index, integer, primaryKey, sqliteTable, text } from "drizzle-orm/sqlite-core";
import { ownerColumn, tenantIdColumn } from "../tenants/table.ts";

export const appKeys = sqliteTable(
  "app_keys",
  {
    id: text("id").primaryKey(),
    tenantId: tenantIdColumn(),
    name: text("name").notNull(),
    scopes: text("scopes").notNull(),
    active: integer("active", { mode: "boolean" }).notNull().default(true),
    published: integer("published", { mode: "boolean" }).notNull().default(false),
    enforceOrigins: integer("enforce_origins", { mode: "boolean" }).notNull().default(false),
    allowNoOrigin: integer("allow_no_origin", { mode: "boolean" }).notNull().default(false),
    expiresAt: text("expires_at"),
    revokedAt: text("revoked_at"),
    lastUsedAt: text("last_used_at"),
    createdAt: text("created_at").notNull(),
    updatedAt: text("updated_at").notNull(),
  },
  (t) => [index("app_keys_by_tenant").on(t.tenantId, t.id), check("app_keys_scopes", sql`json_valid(${t.scopes})`)],
);

/** The secrets of a key. A key has several valid secrets only after a rotation, until the old ones expire. */
export const appKeySecrets = sqliteTable(
  "app_key_secrets",
  {
    id: text("id").primaryKey(),
    tenantId: tenantIdColumn(),
    appId: ownerColumn("app_id", () => appKeys.id),
    /** SHA-256 of the secret, in hex. The secret itself has 256 random bits, so a slow hash would add nothing. */
    hash: text("hash").notNull(),
    createdAt: text("created_at").notNull(),
    expiresAt: text("expires_at"),
    lastUsedAt: text("last_used_at"),
  },
  (t) => [index("app_key_secrets_by_app").on(t.appId)],
);

export const appKeyOrigins = sqliteTable(
  "app_key_origins",
  {
    tenantId: tenantIdColumn(),
    appId: ownerColumn("app_id", () => appKeys.id),
    /** The admin's entry in normalised form: `shop.example.com`, `*.example.org`, `https://shop.example.com:8443`. */
    pattern: text("pattern").notNull(),
    createdAt: text("created_at").notNull(),
  },
  (t) => [primaryKey({ columns: [t.appId, t.pattern] })],
);
