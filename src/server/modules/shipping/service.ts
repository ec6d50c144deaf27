import type { Static } from "@sinclair/typebox";
import { sql } from "drizzle-orm";
import type { Ctx, SystemCtx, Tenant } from "../../context.ts";
import { jsonOf, pick } from "../../db/selection.ts";
import { all, bind, ofStore, param, params, statement } from "../../db/statement.ts";
import { inTransaction } from "../../db/transaction.ts";
import { invalidField } from "../../errors.ts";
import { countryExpects, isCountry } from "../../values/country.ts";
import { requireText, requireWhole } from "../../values/fields.ts";
import { LruCache } from "../../values/lru-cache.ts";
import { parseMoney, toAmount } from "../../values/money.ts";
import { newId } from "../../values/stamps.ts";
import { recordAudit } from "../audit/service.ts";
import { products } from "../catalogue/products/table.ts";
import { languageChain } from "../catalogue/products/translation.ts";
import { requireTaxClass } from "../taxes/model.ts";
import { taxRates } from "../taxes/table.ts";
import { currencyDigits, parseLanguage } from "../tenants/input.ts";
import { tenants } from "../tenants/table.ts";
import type { ShippingOffer, ShippingQuery, ShippingRate, ShippingRateInput } from "./model.ts";
import { shippingRates } from "./table.ts";
import { normalizePostcode, zoneOf } from "./zones.ts";

const columns = {
  ...pick(shippingRates, "id", "zone", "name", "priceMinor", "freeFromMinor", "minValueMinor", "maxValueMinor"),
  ...pick(shippingRates, "minWeight", "maxWeight", "taxClass"),
  countries: jsonOf<string[]>(shippingRates.countries),
  postcodes: jsonOf<string[]>(shippingRates.postcodes),
  names: jsonOf<Record<string, string>>(shippingRates.names),
};
const selectRates = statement((q) =>
  q.select(columns).from(shippingRates).where(ofStore(shippingRates)).orderBy(shippingRates.position),
);
const deleteRates = statement((q) => q.delete(shippingRates).where(ofStore(shippingRates)));
const nameRates = statement(
  sql`update ${tenants} set shipping_rates = ${param("name")} where id = ${param("tenantId")}`,
);
const insertRate = statement((q) =>
  q.insert(shippingRates).values({
    ...params("tenantId", "id", "position", "zone", "countries", "postcodes", "name", "names", "priceMinor"),
    ...params("freeFromMinor", "minValueMinor", "maxValueMinor", "minWeight", "maxWeight", "taxClass"),
  }),
);
/** Amounts are in minor units, weights in grams. */
export type StoredRate = NonNullable<(typeof selectRates)["row"]>;
export type ShippingRateDocument = Static<typeof ShippingRate>;

const shown = (minor: number | null, digits: number) => (minor === null ? null : toAmount(minor, digits));

/** Lists all rates in the order that the store chose, as replies show them. */
export async function listShippingRates(ctx: Ctx): Promise<ShippingRateDocument[]> {
  const digits = currencyDigits(ctx.tenant.currency);
  return (await readShippingRates(ctx)).map((rate) => ({
    ...{ id: rate.id, zone: rate.zone, countries: rate.countries, postcodes: rate.postcodes },
    ...{ name: rate.name, names: rate.names, price: toAmount(rate.priceMinor, digits) },
    ...{ free_from: shown(rate.freeFromMinor, digits), min_value: shown(rate.minValueMinor, digits) },
    ...{ max_value: shown(rate.maxValueMinor, digits), min_weight_g: rate.minWeight, max_weight_g: rate.maxWeight },
    tax_class: rate.taxClass,
  }));
}

/** Reads all rates in the order that the store chose. */
export function readShippingRates(ctx: Ctx): Promise<StoredRate[]> {
  return all(ctx.db, selectRates, { tenantId: ctx.tenant.id });
}

const kept = new LruCache<StoredRate[]>(64);

/** Returns the stored rates, from memory if possible. New rates get a new cache key, so old rates are not found. */
export async function keptShippingRates(ctx: Ctx): Promise<readonly StoredRate[]> {
  const name = ctx.tenant.shippingRates;
  if (name === null) return [];
  const found = kept.get(name);
  if (found) return found;
  const rates = await readShippingRates(ctx);
  kept.set(name, rates);
  return rates;
}

/** Replaces all rates of the store. A rate keeps its id if its zone and name stay. Errors: validationFailed. */
export async function replaceShippingRates(ctx: Ctx, rates: readonly ShippingRateInput[]) {
  const { id: tenantId, namespace } = ctx.tenant;
  const zones = new Map<string, string>();
  const keyOf = (row: { zone: string; name: string }) => JSON.stringify([row.zone, row.name]);
  const keys = new Set<string>();
  const rows = rates.map((rate, index) => {
    const row = rateColumns(ctx, `rates.${index}`, rate);
    const area = `${row.countries} ${row.postcodes}`;
    if ((zones.get(row.zone) ?? area) !== area) {
      throw invalidField(`rates.${index}.countries`, `differ from those of another rate of zone ${row.zone}`);
    }
    zones.set(row.zone, area);
    if (keys.has(keyOf(row))) throw invalidField(`rates.${index}.name`, "is repeated in its zone");
    keys.add(keyOf(row));
    return row;
  });
  return inTransaction(ctx, async (tx) => {
    const ids = new Map((await readShippingRates(tx)).map((rate) => [keyOf(rate), rate.id]));
    const inserts = rows.map((row, position) =>
      bind(insertRate, { ...row, tenantId, position, id: ids.get(keyOf(row)) ?? newId("ship") }),
    );
    const named = bind(nameRates, { tenantId, name: rows.length === 0 ? null : newId("ship") });
    await tx.db.batch([bind(deleteRates, { tenantId }), ...inserts, named]);
    await recordAudit(tx, { event: "shipping.replaced", namespace, details: { rates: rows.length } });
    return listShippingRates(tx);
  });
}

function rateColumns(ctx: Ctx, field: string, rate: ShippingRateInput) {
  const digits = currencyDigits(ctx.tenant.currency);
  const money = (column: string, amount: number | null | undefined) =>
    amount == null ? null : parseMoney(`${field}.${column}`, amount, digits);
  const weight = (column: string, grams: number | null | undefined) =>
    grams == null ? null : requireWhole(`${field}.${column}`, grams, 0, 1_000_000_000);
  const countries = [...new Set(rate.countries)];
  const wrong = countries.find((code) => code !== "*" && !isCountry(code));
  if (wrong !== undefined || countries.length === 0) {
    throw invalidField(`${field}.countries`, `must be ${countryExpects}, or *`);
  }
  const postcodes = [...new Set((rate.postcodes ?? []).map(normalizePostcode))].filter((start) => start !== "");
  const names = Object.entries(rate.names ?? {}).map(([tag, text]) => {
    const of = `${field}.names.${tag.slice(0, 35)}`;
    return [parseLanguage(of, tag), requireText(of, text, 100)];
  });
  const [minValueMinor, maxValueMinor] = [money("min_value", rate.min_value), money("max_value", rate.max_value)];
  const [minWeight, maxWeight] = [weight("min_weight_g", rate.min_weight_g), weight("max_weight_g", rate.max_weight_g)];
  const requireOrder = (unit: string, min: number | null, max: number | null) => {
    if ((min ?? 0) > (max ?? Number.MAX_SAFE_INTEGER))
      throw invalidField(`${field}.max_${unit}`, `is below min_${unit}`);
  };
  requireOrder("value", minValueMinor, maxValueMinor);
  requireOrder("weight_g", minWeight, maxWeight);
  return {
    ...{ zone: requireText(`${field}.zone`, rate.zone, 100), name: requireText(`${field}.name`, rate.name, 100) },
    ...{ countries: JSON.stringify(countries), postcodes: JSON.stringify(postcodes) },
    names: JSON.stringify(Object.fromEntries(names)),
    priceMinor: parseMoney(`${field}.price`, rate.price, digits),
    ...{ freeFromMinor: money("free_from", rate.free_from), minValueMinor, maxValueMinor, minWeight, maxWeight },
    taxClass: rate.tax_class == null ? null : requireTaxClass(`${field}.tax_class`, rate.tax_class),
  };
}

/** A rate that applies, with its price for the goods in minor units. */
export interface Offer {
  rate: StoredRate;
  priceMinor: number;
}

/** Returns rates that apply to an address and goods. `value` is in minor units after discount, `weight` in grams. */
export function offersFor(
  rates: readonly StoredRate[],
  { country, postcode }: Record<"country" | "postcode", string>,
  { value, weight }: Record<"value" | "weight", number>,
): Offer[] {
  const zone = zoneOf(rates, country, postcode);
  const isWithin = (amount: number, min: number | null, max: number | null) =>
    amount >= (min ?? 0) && amount <= (max ?? amount);
  return rates.flatMap((rate) => {
    const fits =
      isWithin(value, rate.minValueMinor, rate.maxValueMinor) && isWithin(weight, rate.minWeight, rate.maxWeight);
    const isFree = rate.freeFromMinor !== null && value >= rate.freeFromMinor;
    return rate.zone === zone && fits ? [{ rate, priceMinor: isFree ? 0 : rate.priceMinor }] : [];
  });
}

/** Lists the rates that apply to an address and goods, as replies show them. Errors: validationFailed. */
export async function listOffers(ctx: Ctx, query: Static<typeof ShippingQuery>, lang: string | undefined) {
  const { country = "", postal_code: postcode = "", value = 0, weight_g: weight = 0 } = query;
  const goods = { value: parseMoney("value", value, currencyDigits(ctx.tenant.currency)), weight };
  const offers = offersFor(await keptShippingRates(ctx), { country, postcode }, goods);
  return offers.map((offer) => showOffer(ctx, offer, lang));
}

/** Returns an offer as replies show it, with the name in the language `lang` if the store has it. */
export function showOffer(ctx: Ctx, { rate, priceMinor }: Offer, lang?: string): Static<typeof ShippingOffer> {
  const price = toAmount(priceMinor, currencyDigits(ctx.tenant.currency));
  return { id: rate.id, name: nameIn(ctx, rate, lang), zone: rate.zone, price, price_minor: priceMinor };
}

export function nameIn(ctx: Ctx, { name, names }: StoredRate, lang: string | undefined): string {
  if (Object.keys(names).length === 0) return name;
  const chain = JSON.parse(languageChain(lang, ctx.tenant.language)) as string[];
  const tag = chain.find((one) => names[one] !== undefined || one === ctx.tenant.language);
  return (tag && names[tag]) ?? name;
}

// Omits stores without tax rates, because they charge no tax.
const selectUntaxed = statement<{ namespace: string; country: string; taxClass: string | null }>(sql`
  with countries as (
    select distinct t.id, t.namespace, c.value as country
    from ${tenants} t join ${shippingRates} r on r.tenant_id = t.id join json_each(r.countries) c
    where t.status = 'active' and (${param("tenantId")} is null or t.id = ${param("tenantId")}) and c.value <> '*'
      and t.tax_rates is not null),
  taxed as (
    select c.*, exists (select 1 from ${taxRates} x where x.tenant_id = c.id and x.country = c.country) as is_taxed
    from countries c)
  select namespace, country, null as taxClass from taxed where not is_taxed
  union all
  select c.namespace, c.country, k.tax_class from taxed c join (
    select distinct tenant_id, tax_class from ${products} where deleted_at is null
    union select tenant_id, tax_class from ${shippingRates} where tax_class is not null) k on k.tenant_id = c.id
  where c.is_taxed and k.tax_class <> 'zero' and not exists (
    select 1 from ${taxRates} x where x.tenant_id = c.id and x.country = c.country and x.tax_class = k.tax_class)
  order by 1, 2, 3`);

/**
 * Lists the countries to which a store ships but for which its tax rates have no rate. Without `tenant`, lists them for
 * all stores. If `taxClass` is not null, only goods of this class have no rate.
 */
export const listUntaxed = (ctx: SystemCtx, tenant: Tenant | null) =>
  all(ctx.db, selectUntaxed, { tenantId: tenant?.id ?? null });
