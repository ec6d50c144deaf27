import { sql } from "drizzle-orm";
import type { SQLiteColumn } from "drizzle-orm/sqlite-core";
import { check, index, integer, primaryKey, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";
import { ownerColumn, tenantIdColumn } from "../../tenants/table.ts";
import { catalogBytes, productJson, variantJson } from "./rendering.ts";

const notDeleted = sql`deleted_at is null`;
const isExact = (column: SQLiteColumn) => sql`${column} between 0 and 9007199254740991`;

const soldColumns = () => ({
  tenantId: tenantIdColumn(),
  title: text("title").notNull(),
  sku: text("sku"),
  /** The price in minor units of `currency`, which has `currency_digits` decimals. */
  priceMinor: integer("price_minor").notNull(),
  compareAtMinor: integer("compare_at_minor"),
  currency: text("currency").notNull(),
  currencyDigits: integer("currency_digits").notNull(),
  /** Stock on hand; null if not counted, negative if sold on backorder. */
  stock: integer("stock"),
  /** Weight of one piece, in grams. If it is null, a variant has its product's weight. */
  weightG: integer("weight_g"),
  reserved: integer("reserved").notNull().default(0),
  images: text("images").notNull().default("[]"),
  version: integer("version").notNull().default(1),
  /** The public sees `version` minus this number, which increases with sales that do not change the shown stock. */
  hiddenVersions: integer("hidden_versions").notNull().default(0),
  createdAt: text("created_at").notNull(),
  updatedAt: text("updated_at").notNull(),
  deletedAt: text("deleted_at"),
});

type SoldColumn = "tenantId" | "sku" | "priceMinor" | "compareAtMinor" | "stock" | "reserved";

const soldConstraints = (table: string, t: Record<SoldColumn, SQLiteColumn>) => [
  uniqueIndex(`${table}_sku`).on(t.tenantId, t.sku).where(sql`sku is not null and deleted_at is null`),
  check(`${table}_price`, isExact(t.priceMinor)),
  check(`${table}_compare_at`, sql`${t.compareAtMinor} is null or ${isExact(t.compareAtMinor)}`),
  check(`${table}_stock`, sql`${t.stock} is null or abs(${t.stock}) <= 9007199254740991`),
  check(`${table}_reserved`, isExact(t.reserved)),
];

/** Texts are in the language `lang`. Deleted rows are kept; their slug and SKU can be used again. */
export const products = sqliteTable(
  "products",
  {
    /** The search index refers to rows by this number. It increases with creation time, and VACUUM keeps it. */
    rowNumber: integer("row_number").primaryKey(),
    id: text("id").notNull().unique(),
    ...soldColumns(),
    slug: text("slug").notNull(),
    description: text("description"),
    status: text("status", { enum: ["draft", "published", "archived"] }).notNull(),
    allowBackorder: integer("allow_backorder", { mode: "boolean" }).notNull().default(false),
    requiresShipping: integer("requires_shipping", { mode: "boolean" }).notNull().default(true),
    taxClass: text("tax_class").notNull().default("standard"),
    tags: text("tags").notNull().default("[]"),
    /** JSON array of category ids. Triggers refuse categories of other stores. */
    categoryIds: text("category_ids").notNull().default("[]"),
    metadata: text("metadata").notNull().default("{}"),
    /** JSON object with a `{title, description}` for each language other than `lang`. */
    translations: text("translations").notNull().default("{}"),
    /** Triggers on variants write this column and the next four: sorted JSON, whether there are variants, and sums. */
    variants: text("variants").notNull().default("[]"),
    catalogVariants: text("catalog_variants").notNull().default("[]"),
    hasVariants: integer("has_variants", { mode: "boolean" }).notNull().default(false),
    variantsStock: integer("variants_stock"),
    variantsAvailable: integer("variants_available"),
    likesCount: integer("likes_count").notNull().default(0),
    viewsCount: integer("views_count").notNull().default(0),
    popularity: integer("popularity").generatedAlwaysAs(sql`views_count + 10 * likes_count`, { mode: "virtual" }),
    lang: text("lang").notNull(),
    publishedAt: text("published_at"),
    /** The product's JSON, computed when the row is written. A page of stored JSON is read four times as fast. */
    rendered: text("rendered").generatedAlwaysAs(productJson, { mode: "stored" }),
    catalogBytes: integer("catalog_bytes").generatedAlwaysAs(catalogBytes, { mode: "stored" }),
  },
  (t) => [
    ...soldConstraints("products", t),
    uniqueIndex("products_slug").on(t.tenantId, t.slug).where(notDeleted),
    index("products_by_created").on(t.tenantId, t.createdAt, t.id).where(notDeleted),
    index("products_by_status").on(t.tenantId, t.status, t.createdAt, t.id).where(notDeleted),
    index("products_by_price").on(t.tenantId, t.priceMinor, t.id).where(notDeleted),
    index("products_by_updated").on(t.tenantId, t.updatedAt, t.id).where(notDeleted),
    index("products_by_title").on(t.tenantId, t.title, t.id).where(notDeleted),
    index("products_by_views").on(t.tenantId, t.viewsCount, t.id).where(notDeleted),
    index("products_by_popularity").on(t.tenantId, t.popularity, t.id).where(notDeleted),
    check("products_status", sql`${t.status} in ('draft', 'published', 'archived')`),
    check("products_metadata_size", sql`length(cast(${t.metadata} as blob)) <= 16384`),
    check("products_translations_size", sql`length(cast(${t.translations} as blob)) <= 524288`),
    check(
      "products_json",
      sql`json_valid(${t.images}) and json_valid(${t.tags}) and json_valid(${t.categoryIds}) and json_valid(${t.metadata}) and json_valid(${t.translations})`,
    ),
  ],
);

/** Products to index for searches. Triggers add rows; indexing removes them before each COMMIT. */
export const productsToIndex = sqliteTable("products_to_index", { rowNumber: integer("row_number").primaryKey() });

export const productCounts = sqliteTable(
  "product_counts",
  {
    tenantId: tenantIdColumn(),
    status: text("status").notNull(),
    products: integer("products").notNull(),
  },
  (t) => [primaryKey({ columns: [t.tenantId, t.status] })],
);

/** Variants of products, such as sizes. Deleted rows are kept. */
export const productVariants = sqliteTable(
  "product_variants",
  {
    id: text("id").primaryKey(),
    productId: ownerColumn("product_id", () => products.id),
    ...soldColumns(),
    options: text("options").notNull().default("{}"),
    optionsKey: text("options_key").notNull().default("{}"),
    /** False if price, compare-at price and currency are copied from the product and change with it. */
    hasOwnPrice: integer("has_own_price", { mode: "boolean" }).notNull().default(true),
    position: integer("position").notNull().default(0),
    rendered: text("rendered").generatedAlwaysAs(variantJson, { mode: "stored" }),
  },
  (t) => [
    ...soldConstraints("product_variants", t),
    uniqueIndex("product_variants_options").on(t.productId, t.optionsKey).where(notDeleted),
    index("product_variants_by_product").on(t.productId, t.position, t.id).where(notDeleted),
    check("product_variants_json", sql`json_valid(${t.options}) and json_valid(${t.images})`),
  ],
);

// Products whose `variants` column is out of date. Triggers do not update that column while a row with an empty
// `product_id` exists. Rows exist only in a transaction: SQLite refuses to commit them, because `blocks_commit` has a
// deferred foreign key to a product that does not exist.
export const staleSummaries = sqliteTable("stale_summaries", {
  productId: text("product_id").primaryKey(),
  blocksCommit: text("blocks_commit")
    .notNull()
    .references(() => products.id),
});
