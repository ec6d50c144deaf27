import { sql } from "drizzle-orm";
import { type AnySQLiteColumn, check, integer, sqliteTable, text } from "drizzle-orm/sqlite-core";
import type { Tenant } from "../../context.ts";
import { pick } from "../../db/selection.ts";
import { equals, statement } from "../../db/statement.ts";

export const tenants = sqliteTable(
  "tenants",
  {
    id: text("id").primaryKey(),
    namespace: text("namespace").notNull().unique(),
    title: text("title").notNull(),
    domain: text("domain"),
    url: text("url"),
    currency: text("currency").notNull(),
    currencySign: text("currency_sign").notNull(),
    logo: text("logo"),
    language: text("language").notNull(),
    tokenLifetime: integer("token_lifetime").notNull().default(2_592_000),
    /** Points for every 100 minor units paid, in thousandths: 1000 gives a point for each euro. */
    pointsRate: integer("points_rate").notNull().default(1000),
    pointValue: integer("point_value").notNull().default(1),
    /** Days until points expire; null for never. */
    pointsDays: integer("points_days"),
    /** Maximum public writes a minute from one IP address, which a household may share; 0 means no limit. */
    addressWrites: integer("address_writes").notNull().default(1200),
    /** Maximum public writes a minute of one visitor or user; 0 means no limit. */
    visitorWrites: integer("visitor_writes").notNull().default(240),
    /** Maximum unpaid orders of one customer or one guest's IP address; 0 means no limit. */
    pendingOrders: integer("pending_orders").notNull().default(5),
    /** The percentage of an item's stock that one buyer's unpaid orders may reserve, or ten pieces if that is more. */
    stockShare: integer("stock_share").notNull().default(20),
    /** Maximum orders a minute of one customer or one guest's IP address; 0 means no limit. */
    ordersPerMinute: integer("orders_per_minute").notNull().default(10),
    mediaQuota: integer("media_quota").notNull().default(1_073_741_824),
    /** Whether customers can create accounts, and whether they must verify the address first. */
    signUp: text("sign_up", { enum: ["off", "open", "verified"] })
      .notNull()
      .default("verified"),
    /** Whether customers can log in with a mailed code instead of their password. */
    signInByMail: text("sign_in_by_mail", { enum: ["off", "on"] })
      .notNull()
      .default("off"),
    /** The store's country, whose taxes apply to orders without an address. */
    country: text("country"),
    timezone: text("timezone").notNull().default("UTC"),
    pricesIncludeTax: text("prices_include_tax", { enum: ["no", "yes"] })
      .notNull()
      .default("no"),
    /** Identifies the store's present rates, so that caches notice new ones. Null without rates. */
    shippingRates: text("shipping_rates"),
    taxRates: text("tax_rates"),
    /** Seconds for which an unpaid order reserves stock; `transferHold` applies to payment by bank transfer. */
    hold: integer("hold").notNull().default(3600),
    transferHold: integer("transfer_hold").notNull().default(604_800),
    transferInstructions: text("transfer_instructions"),
    /** The percentage of an item's stock that visitors' orders with holds of over an hour may reserve in total. */
    longHoldShare: integer("long_hold_share").notNull().default(50),
    /** URL of the page that shows a guest's order. */
    orderUrl: text("order_url"),
    /** JSON object of addresses of legal texts by name, such as `imprint`. */
    legalUrls: text("legal_urls").notNull().default("{}"),
    lowStockAt: integer("low_stock_at"),
    /** JSON array of the addresses that get mail for the store; if it is empty, the owners get it. */
    notify: text("notify").notNull().default("[]"),
    /** JSON array of the kinds of mail that the store does not send. */
    mailsOff: text("mails_off").notNull().default("[]"),
    /** Years until an ended order loses its buyer's data, from the end of the year of its last change or invoice. */
    keepInvoices: integer("keep_invoices").notNull().default(8),
    /** Shops that charge no VAT show this text in place of "incl. VAT". */
    taxNote: text("tax_note"),
    /** The seller on invoices: name, address and tax number. Without it, the store issues no invoices. */
    invoiceFrom: text("invoice_from"),
    status: text("status", { enum: ["active", "suspended"] })
      .notNull()
      .default("active"),
    createdAt: text("created_at").notNull(),
    updatedAt: text("updated_at").notNull(),
  },
  (t) => [
    check("tenants_status", sql`${t.status} in ('active', 'suspended')`),
    check("tenants_sign_up", sql`${t.signUp} in ('off', 'open', 'verified')`),
    check("tenants_sign_in_by_mail", sql`${t.signInByMail} in ('off', 'on')`),
    check("tenants_prices_include_tax", sql`${t.pricesIncludeTax} in ('no', 'yes')`),
    check("tenants_legal_urls", sql`json_valid(${t.legalUrls})`),
  ],
);

/** Triggers change this row when a store, key, secret or origin changes, so that processes clear their caches. */
export const revision = sqliteTable(
  "revision",
  { id: integer("id").primaryKey(), value: integer("value").notNull().default(0) },
  (t) => [check("revision_single_row", sql`${t.id} = 1`)],
);

export const workFields = {
  ...pick(tenants, "id", "namespace", "title", "currency", "language", "tokenLifetime", "pointsRate", "pointValue"),
  ...pick(tenants, "pointsDays", "addressWrites", "visitorWrites", "pendingOrders", "stockShare", "ordersPerMinute"),
  ...pick(tenants, "signUp", "signInByMail", "country", "timezone", "pricesIncludeTax", "hold", "transferHold"),
  ...pick(tenants, "longHoldShare", "orderUrl", "shippingRates", "taxRates", "lowStockAt"),
} satisfies Record<keyof Tenant, AnySQLiteColumn>;
const pairs = Object.entries(workFields).map(([name, column]) => `'${name}', t.${column.name}`);

/** SQL for `ctx.tenant` as JSON, from a store with the alias `t`. Statements on rows of all stores use it. */
export const tenantForWork = sql.raw(`json_object(${pairs.join(", ")})`);

/** Selects settings of the store `tenantId` that few callers need, so that not every request reads them. */
export function selectSettings<Name extends keyof typeof tenants.$inferSelect>(...names: Name[]) {
  const settings = pick(tenants, ...names);
  const isStore = equals(tenants.id, "tenantId");
  return statement((q) => q.select(settings).from(tenants).where(isStore));
}

/** Returns a column that refers to another table's row. Deleting that row also deletes the rows that refer to it. */
export const ownerColumn = <Name extends string>(name: Name, id: () => AnySQLiteColumn) =>
  text(name).notNull().references(id, { onDelete: "cascade" });

export const tenantIdColumn = () => ownerColumn("tenant_id", () => tenants.id);
