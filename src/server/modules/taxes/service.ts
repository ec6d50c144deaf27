import { and, sql } from "drizzle-orm";
import type { Ctx } from "../../context.ts";
import { pick } from "../../db/selection.ts";
import { all, bind, equals, ofStore, param, params, statement } from "../../db/statement.ts";
import { inTransaction } from "../../db/transaction.ts";
import { invalidField } from "../../errors.ts";
import { countryExpects, isCountry } from "../../values/country.ts";
import { LruCache } from "../../values/lru-cache.ts";
import { parseThousandths, toAmount } from "../../values/money.ts";
import { newId } from "../../values/stamps.ts";
import { recordAudit } from "../audit/service.ts";
import { tenants } from "../tenants/table.ts";
import { requireTaxClass, type TaxRate } from "./model.ts";
import { taxRates } from "./table.ts";

const selectRates = statement((q) =>
  q.select().from(taxRates).where(ofStore(taxRates)).orderBy(taxRates.country, taxRates.taxClass),
);
const deleteRates = statement((q) => q.delete(taxRates).where(ofStore(taxRates)));
const insertRate = statement((q) => q.insert(taxRates).values(params("tenantId", "country", "taxClass", "rate")));
const selectOfCountry = statement((q) =>
  q
    .select(pick(taxRates, "taxClass", "rate"))
    .from(taxRates)
    .where(and(ofStore(taxRates), equals(taxRates.country, "country"))),
);
const nameRates = statement(sql`update ${tenants} set tax_rates = ${param("name")} where id = ${param("tenantId")}`);

export async function listTaxRates(ctx: Ctx): Promise<TaxRate[]> {
  const rows = await all(ctx.db, selectRates, { tenantId: ctx.tenant.id });
  return rows.map(({ taxClass, country, rate }) => ({ class: taxClass, country, rate: showTaxRate(rate) }));
}

/** Replaces all tax rates of the store. Errors: validationFailed. */
export async function replaceTaxRates(ctx: Ctx, rates: readonly TaxRate[]): Promise<TaxRate[]> {
  const { id: tenantId, namespace } = ctx.tenant;
  const seen = new Set<string>();
  const rows = rates.map(({ class: taxClass, country, rate }, index) => {
    const field = `rates.${index}`;
    requireTaxClass(`${field}.class`, taxClass);
    if (!isCountry(country)) throw invalidField(`${field}.country`, `must be ${countryExpects}`);
    if (seen.has(`${country} ${taxClass}`)) throw invalidField(field, `repeats the class ${taxClass} in ${country}`);
    seen.add(`${country} ${taxClass}`);
    return { tenantId, country, taxClass, rate: parseThousandths(`${field}.rate`, rate, [0, 100], "a percentage") };
  });
  return inTransaction(ctx, async (tx) => {
    const inserts = rows.map((row) => bind(insertRate, row));
    const named = bind(nameRates, { tenantId, name: rows.length === 0 ? null : newId("tax") });
    await tx.db.batch([bind(deleteRates, { tenantId }), ...inserts, named]);
    await recordAudit(tx, { event: "taxes.replaced", namespace, details: { rates: rows.length } });
    return listTaxRates(tx);
  });
}

const kept = new LruCache<ReadonlyMap<string, number>>(256);

/**
 * Returns the rates of a country by class, in thousandths of a percent, from memory if possible. Undefined if the store
 * has no tax rates.
 */
export async function keptTaxRates(tx: Ctx, country: string): Promise<ReadonlyMap<string, number> | undefined> {
  const { id: tenantId, taxRates: name } = tx.tenant;
  if (name === null) return undefined;
  const found = kept.get(`${name} ${country}`);
  if (found) return found;
  const rows = await all(tx.db, selectOfCountry, { tenantId, country });
  const rates = new Map(rows.map(({ taxClass, rate }) => [taxClass, rate]));
  kept.set(`${name} ${country}`, rates);
  return rates;
}

/** Converts 5500 thousandths to 5.5 percent. */
export function showTaxRate(thousandths: number): number {
  return toAmount(thousandths, 3);
}
