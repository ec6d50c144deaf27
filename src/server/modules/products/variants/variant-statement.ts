import { type SQL, sql } from "drizzle-orm";
import { type CompiledStatement, compiledOnce, param, statement } from "../../../db/statement.ts";
import { columnName } from "../input.ts";
import type { Rendered } from "../rendering.ts";
import { products, productVariants } from "../table.ts";
import type { VariantColumns } from "./variant-input.ts";

export const ofProduct = sql`tenant_id = ${param("tenantId")} and id = ${param("productId")} and deleted_at is null`;
export const livingVariant = sql`tenant_id = ${param("tenantId")} and id = ${param("variantId")}
  and product_id = ${param("productId")} and deleted_at is null`;

const priceColumns = sql.raw("(price_minor, compare_at_minor, currency, currency_digits)");
const productsPrice = sql`${priceColumns} = (
  select price_minor, compare_at_minor, currency, currency_digits from ${products} where ${ofProduct})`;

/** Copies a product's price to the variants that follow it; returns those that changed. */
export const followPrice = statement<{ id: string }>(sql`
  update ${productVariants} set ${productsPrice}, version = version + 1, updated_at = ${param("now")}
  where tenant_id = ${param("tenantId")} and product_id = ${param("productId")} and deleted_at is null
    and not has_own_price and not exists (select 1 from ${products} p where p.id = product_variants.product_id
      and p.price_minor = product_variants.price_minor and p.compare_at_minor is product_variants.compare_at_minor
      and p.currency = product_variants.currency and p.currency_digits = product_variants.currency_digits)
  returning id`);

type Name = keyof VariantColumns;

const ofPrice: readonly Name[] = ["priceMinor", "compareAtMinor", "currency", "currencyDigits"];

/** The price of a variant after a write: its own, the product's, or unchanged. */
type PriceChange = "own" | "product" | "same";

/**
 * The statement that writes these columns of a variant. It returns no row if the variant does not exist, has another
 * version than `ifMatch`, or gets a compare-at price while its price is the product's.
 */
export function updateVariantStatement(names: Name[], price: PriceChange): CompiledStatement<Rendered> {
  return compiledOnce(`update variant ${price} ${names.join(" ")}`, () => compileUpdate(names, price));
}

function compileUpdate(names: Name[], price: PriceChange): CompiledStatement<Rendered> {
  const changes = [...names.filter((name) => !ofPrice.includes(name)).map(set), ...priceChanges(names, price)];
  if (names.includes("options") && !names.includes("title")) {
    const made = sql`select group_concat(value, ' / ') from (select value from json_each(options) order by id)`;
    changes.push(sql`title = case when title = (${made}) then coalesce(${param("madeTitle")}, title) else title end`);
  }
  // A compare-at price of null is harmless for a variant with the product's price.
  const isGuarded = price === "same" && names.includes("compareAtMinor");
  const guard = isGuarded ? sql`and (has_own_price or ${param("compareAtMinor")} is null)` : sql``;
  return statement<Rendered>(sql`
    update ${productVariants} set ${sql.join([...changes, sql`updated_at = ${param("now")}`], sql`, `)},
      version = version + 1
    where ${livingVariant} and version = coalesce(${param("ifMatch")}, version)
      and exists (select 1 from ${products} where ${ofProduct}) ${guard}
    returning rendered as json, version`);
}

function set(name: Name): SQL {
  return sql`${columnName(name)} = ${param(name)}`;
}

function priceChanges(names: Name[], price: PriceChange): SQL[] {
  if (price === "product") return [sql`has_own_price = 0`, productsPrice];
  const isCompared = names.includes("compareAtMinor");
  if (price === "same") {
    if (!isCompared) return [];
    return [sql`compare_at_minor = case when has_own_price then ${param("compareAtMinor")} else compare_at_minor end`];
  }
  const others = names.filter((name) => ofPrice.includes(name)).map(set);
  // An inherited compare-at price is removed with the inherited price.
  if (!isCompared) others.push(sql`compare_at_minor = case when has_own_price then compare_at_minor end`);
  return [sql`has_own_price = 1`, ...others];
}
