import { sql } from "drizzle-orm";
import { check, index, integer, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";
import { tenants } from "../tenants/table.ts";
import { productJson } from "./rendering.ts";

const living = sql`deleted_at is null`;

/**
 * What a store sells. Texts stand in the language of creation (`lang`). Rows are never removed while the store stands:
 * `deleted_at` takes them out of every list, and frees slug and SKU.
 */
export const products = sqliteTable(
  "products",
  {
    id: text("id").primaryKey(),
    tenantId: text("tenant_id")
      .notNull()
      .references(() => tenants.id, { onDelete: "cascade" }),
    title: text("title").notNull(),
    slug: text("slug").notNull(),
    description: text("description"),
    status: text("status", { enum: ["draft", "published", "archived"] }).notNull(),
    /** Minor units of `currency`; how many digits these have is frozen with the row. */
    priceMinor: integer("price_minor").notNull(),
    currency: text("currency").notNull(),
    currencyDigits: integer("currency_digits").notNull(),
    sku: text("sku"),
    /** Pieces on hand; null means that they are not counted. */
    stock: integer("stock"),
    images: text("images").notNull().default("[]"),
    tags: text("tags").notNull().default("[]"),
    metadata: text("metadata").notNull().default("{}"),
    lang: text("lang").notNull(),
    version: integer("version").notNull().default(1),
    createdAt: text("created_at").notNull(),
    updatedAt: text("updated_at").notNull(),
    publishedAt: text("published_at"),
    deletedAt: text("deleted_at"),
    /**
     * The product as replies show it, written by SQLite with the row and so never out of step with it. Reads pass it
     * through: a page of twenty costs a quarter of what rendering it each time does.
     */
    rendered: text("rendered").generatedAlwaysAs(productJson, { mode: "stored" }),
  },
  (t) => [
    uniqueIndex("products_slug").on(t.tenantId, t.slug).where(living),
    uniqueIndex("products_sku").on(t.tenantId, t.sku).where(sql`sku is not null and deleted_at is null`),
    index("products_by_created").on(t.tenantId, t.createdAt, t.id).where(living),
    index("products_by_status").on(t.tenantId, t.status, t.createdAt, t.id).where(living),
    index("products_by_price").on(t.tenantId, t.priceMinor, t.id).where(living),
    index("products_by_updated").on(t.tenantId, t.updatedAt, t.id).where(living),
    index("products_by_title").on(t.tenantId, t.title, t.id).where(living),
    check("products_status", sql`${t.status} in ('draft', 'published', 'archived')`),
    check("products_price", sql`${t.priceMinor} between 0 and 9007199254740991`),
    check("products_stock", sql`${t.stock} is null or ${t.stock} between 0 and 9007199254740991`),
    check("products_metadata_size", sql`length(cast(${t.metadata} as blob)) <= 16384`),
    check("products_json", sql`json_valid(${t.images}) and json_valid(${t.tags}) and json_valid(${t.metadata})`),
  ],
);
