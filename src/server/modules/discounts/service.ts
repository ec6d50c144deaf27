import { type SQL, sql } from "drizzle-orm";
import type { Ctx } from "../../context.ts";
import { isUniqueViolation } from "../../db/db-errors.ts";
import { keysetList } from "../../db/keyset-list.ts";
import { byId, get, ofStore, param, params, run, statement } from "../../db/statement.ts";
import { inTransaction } from "../../db/transaction.ts";
import { conflict, fieldError, invalidField, notFound } from "../../errors.ts";
import type { ListPage } from "../../pagination/list-page.ts";
import { requireWhole } from "../../values/fields.ts";
import { parseMoney, parseThousandths } from "../../values/money.ts";
import { isId, newId, toTimestamp } from "../../values/stamps.ts";
import { readTime } from "../../values/units.ts";
import { recordAudit } from "../audit/service.ts";
import { currencyDigits } from "../tenants/input.ts";
import type { Discount, DiscountInput, DiscountListQuery } from "./model.ts";
import { discounts } from "./table.ts";

const divisor = param("divisor");
const amount = (minor: SQL) => sql`iif(${divisor} = 1, ${minor}, ${minor} * 1.0 / ${divisor})`;
// Percentages are stored in thousandths, amounts in minor units.
const json = sql`json_object('id', id, 'code', code, 'percent', percent / 1000.0,
  'amount', ${amount(sql`amount_minor`)}, 'amount_minor', amount_minor,
  'minimum', ${amount(sql`minimum_minor`)}, 'minimum_minor', minimum_minor,
  'free_shipping', json(iif(free_shipping, 'true', 'false')),
  'product_ids', json(product_ids), 'category_ids', json(category_ids), 'from', begins_at, 'until', ends_at,
  'limit', max_uses, 'per_customer', max_per_customer, 'uses', uses, 'created_at', created_at)`;
const readPage = keysetList({
  name: "discounts",
  fields: [],
  json,
  from: sql`from ${discounts}`,
  sorts: { created_at: sql`created_at` },
});
const isNamed = sql`${ofStore(discounts)} and ${param("name")} in (id, code_key)`;
const selectDiscount = statement<{ json: string }>(sql`select ${json} as json from ${discounts} where ${isNamed}`);
const insertDiscount = statement((q) =>
  q.insert(discounts).values({
    ...params("id", "tenantId", "code", "codeKey", "percent", "amountMinor", "freeShipping", "minimumMinor"),
    ...params("productIds", "categoryIds", "beginsAt", "endsAt", "maxUses", "maxPerCustomer", "createdAt"),
  }),
);
const endDiscount = statement(sql`
  update ${discounts} set ends_at = min(coalesce(ends_at, ${param("now")}), ${param("now")}) where ${byId(discounts)}`);

const divisorOf = ({ tenant }: Ctx) => 10 ** currencyDigits(tenant.currency);

export function listDiscounts(ctx: Ctx, query: DiscountListQuery): Promise<ListPage> {
  return readPage(ctx, query, { filters: {}, values: { divisor: divisorOf(ctx) } });
}

/** Finds a discount by its id, or by its code in upper or lower case. Errors: notFound. */
export async function getDiscount(ctx: Ctx, named: string): Promise<Discount> {
  const name = isId("dsc", named) ? named : codeKey(named);
  const row = await get(ctx.db, selectDiscount, { tenantId: ctx.tenant.id, name, divisor: divisorOf(ctx) });
  if (!row)
    throw notFound("discount", named, { remedy: `List discounts: bodega discount list -n ${ctx.tenant.namespace}` });
  return JSON.parse(row.json) as Discount;
}

/** Returns the form in which codes are compared, in lower case. */
export function codeKey(code: string): string {
  return code.normalize("NFKC").trim().toLowerCase().replaceAll("\0", "");
}

/** Creates a discount code. Errors: validationFailed, conflict for a code that exists. */
export async function createDiscount(ctx: Ctx, input: DiscountInput): Promise<Discount> {
  const row = discountColumns(ctx, input);
  return inTransaction(ctx, async (tx) => {
    const id = newId("dsc");
    try {
      await run(tx.db, insertDiscount, { ...row, id, tenantId: tx.tenant.id, createdAt: toTimestamp(tx.now()) });
    } catch (error) {
      if (!isUniqueViolation(error, "discounts.code_key")) throw error;
      throw fieldError(conflict, "code", "belongs to another discount", { cause: error });
    }
    await recordAudit(tx, { event: "discount.created", subject: id });
    return getDiscount(tx, id);
  });
}

/** Ends a code now. Orders that use it keep their discount. Errors: notFound. */
export async function endDiscountNow(ctx: Ctx, named: string): Promise<Discount> {
  return inTransaction(ctx, async (tx) => {
    const { id } = await getDiscount(tx, named);
    await run(tx.db, endDiscount, { tenantId: tx.tenant.id, id, now: toTimestamp(tx.now()) });
    await recordAudit(tx, { event: "discount.ended", subject: id });
    return getDiscount(tx, id);
  });
}

function discountColumns(ctx: Ctx, input: DiscountInput) {
  const digits = currencyDigits(ctx.tenant.currency);
  const { code, percent, amount, free_shipping: freeShipping = false, minimum, ...more } = input;
  const kinds = [percent != null, amount != null, freeShipping].filter(Boolean).length;
  if (kinds !== 1)
    throw invalidField(
      "percent",
      "must be sent, unless amount or free_shipping is sent. Send exactly one of the three",
    );
  if (!/^[A-Za-z0-9][A-Za-z0-9_-]{0,49}$/.test(code)) {
    throw invalidField("code", "must be at most 50 letters, digits, hyphens and underscores");
  }
  const [beginsAt, endsAt] = [timeColumn("from", input.from), timeColumn("until", input.until)];
  if (beginsAt !== null && endsAt !== null && endsAt <= beginsAt) throw invalidField("until", "is not after from");
  const count = (field: string, value: number | null | undefined) =>
    value == null ? null : requireWhole(field, value, 1, 1_000_000_000);
  const amountMinor = amount == null ? null : parseMoney("amount", amount, digits);
  if (amountMinor === 0) throw invalidField("amount", "must be above zero");
  return {
    ...{ code, codeKey: codeKey(code), amountMinor, freeShipping: freeShipping ? 1 : 0, beginsAt, endsAt },
    percent: percent == null ? null : parseThousandths("percent", percent, [0.001, 100], "a percentage"),
    minimumMinor: minimum == null ? null : parseMoney("minimum", minimum, digits),
    productIds: idsColumn("product_ids", "prod", input.product_ids),
    categoryIds: idsColumn("category_ids", "cat", input.category_ids),
    ...{ maxUses: count("limit", more.limit), maxPerCustomer: count("per_customer", more.per_customer) },
  };
}

function timeColumn(field: string, text: string | null | undefined): string | null {
  if (text == null) return null;
  const time = readTime(text);
  if (time === undefined) throw invalidField(field, "must be a time such as 2026-12-01T00:00:00Z, or a date");
  return toTimestamp(time);
}

function idsColumn(field: string, prefix: string, ids: readonly string[] = []): string {
  const wrong = ids.findIndex((id) => !isId(prefix, id));
  if (wrong !== -1)
    throw invalidField(`${field}.${wrong}`, `must be an id, such as ${prefix}_01h455vb4pex5vsknk084sn02q`);
  return JSON.stringify([...new Set(ids)]);
}
