import { sql } from "drizzle-orm";
import { all, bind, type CompiledStatement, param, statement } from "../../db/statement.ts";
import { compileEvent } from "../../modules/events/service.ts";
import { indexProduct } from "../../modules/products/list/search.ts";
import { products, productVariants } from "../../modules/products/table.ts";
import { newId } from "../../values/ids.ts";
import { toTimestamp } from "../../values/timestamp.ts";
import { differences, type Inconsistency, inScope, isNamed, type RecordCheck } from "./check.ts";

const fields = ["variants", "has_variants", "variants_stock", "variants_available"] as const;

// Computed like the triggers on the variants do.
const living = (product: string) => sql`(select rendered, stock, reserved from ${productVariants}
  where product_id = ${sql.raw(product)} and deleted_at is null order by position, id)`;
const sums = sql`select product_id, count(*) as pieces,
  case when count(*) = count(stock) then sum(stock) end as stock,
  case when count(*) = count(stock) then sum(stock - reserved) end as available
  from ${productVariants} v where deleted_at is null and ${inScope("v")} group by product_id`;
const select = statement<Inconsistency>(sql`
  with sums as (${sums}),
  compared as (
    select p.tenant_id, p.id as record, p.id as target, 1 as fixable, p.has_variants, s.pieces is not null as right_has_variants,
      p.variants_stock, s.stock as right_variants_stock,
      p.variants_available, s.available as right_variants_available,
      json_array_length(p.variants) || ' variants' || case when p.variants
        is (select json_group_array(json(rendered)) from ${living("p.id")}) then '' else ', out of date' end as variants,
      coalesce(s.pieces, 0) || ' variants' as right_variants
    from ${products} p left join sums s on s.product_id = p.id where p.deleted_at is null and ${inScope("p")})
  ${differences("compared", fields)}`);
const update: CompiledStatement<{ id: string }> = statement(sql`
  update ${products} set version = version + 1, updated_at = ${param("now")},
    (variants, has_variants, variants_stock, variants_available) = (
      select json_group_array(json(rendered)), count(*) > 0, case when count(*) = count(stock) then sum(stock) end,
        case when count(*) = count(stock) then sum(stock - reserved) end from ${living('"products".id')})
  where ${isNamed('"products"')} and deleted_at is null returning id`);
const productUpdated = compileEvent({
  type: sql`'product.updated'`,
  subject: sql`id`,
  data: sql`json_object('version', version, 'fields', json('["variants"]'))`,
  from: sql`from ${products} where tenant_id = ${param("tenantId")} and id = ${param("id")}`,
});

/** The JSON and the sums of a product's variants agree with its variants. */
export const variantSums: RecordCheck = {
  id: "variants",
  find: (ctx, tenantId) => all(ctx.db, select, { tenantId }),
  async fix(tx, targets, tenant) {
    if (tenant === null) return 0;
    const values = { tenantId: tenant.id, now: toTimestamp(tx.now()) };
    const fixed = await all(tx.db, update, { ...values, ids: JSON.stringify(targets) });
    if (fixed.length === 0) return 0;
    await tx.db.batch(fixed.map(({ id }) => bind(productUpdated, { ...values, id, eventId: newId("evt") })));
    // A product is found by the words of its variants, too.
    for (const { id } of fixed) await indexProduct({ ...tx, tenant }, id);
    return fixed.length;
  },
};
