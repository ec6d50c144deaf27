import { index, integer, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";
import { products } from "../catalogue/products/table.ts";
import { ownerColumn, tenantIdColumn } from "../tenants/table.ts";
import { users } from "../users/table.ts";

export const wishlistItems = sqliteTable(
  "wishlist_items",
  {
    id: text("id").primaryKey(),
    tenantId: tenantIdColumn(),
    userId: ownerColumn("user_id", () => users.id),
    productId: ownerColumn("product_id", () => products.id),
    variantId: text("variant_id"),
    priceAtAddMinor: integer("price_at_add_minor").notNull(),
    currency: text("currency").notNull(),
    currencyDigits: integer("currency_digits").notNull(),
    note: text("note"),
    version: integer("version").notNull().default(1),
    createdAt: text("created_at").notNull(),
    updatedAt: text("updated_at").notNull(),
  },
  (t) => [
    // The user comes first, so that the foreign key finds the rows of a deleted user.
    uniqueIndex("wishlist_items_product").on(t.userId, t.tenantId, t.productId),
    index("wishlist_items_by_created").on(t.tenantId, t.userId, t.createdAt, t.id),
    index("wishlist_items_by_product").on(t.productId),
  ],
);
