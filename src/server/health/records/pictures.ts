import { type SQL, sql } from "drizzle-orm";
import { statement } from "../../db/statement.ts";
import { media } from "../../modules/media/table.ts";
import { products, productVariants } from "../../modules/products/table.ts";
import { differences, type Inconsistency, inScope, isNamed, type RecordCheck } from "./check.ts";

/** SQL for common table expressions with the stored uses of pictures and the right ones. */
function uses(scope: (alias: string) => SQL, named: (alias: string) => SQL): SQL {
  const shows = (alias: string) => sql`${named(alias)} and deleted_at is null and instr(images, '"media_id"')`;
  return sql`shown as (
    select o.tenant_id, i.value ->> 'media_id' as id, count(distinct o.id) as uses from (
      select tenant_id, id, images from ${products} p where ${shows("p")}
      union all select tenant_id, id, images from ${productVariants} v where ${shows("v")}) o, json_each(o.images) i
    where i.value ->> 'media_id' is not null group by o.tenant_id, i.value ->> 'media_id'),
  compared as (
    select m.tenant_id, m.id as record, 1 as fixable, m.uses, coalesce(s.uses, 0) as right_uses
    from ${media} m left join shown s on s.tenant_id = m.tenant_id and s.id = m.id where ${scope("m")})`;
}

const select = statement<Inconsistency>(sql`with ${uses(inScope, inScope)} ${differences("compared", ["uses"])}`);
const ofTenant = (alias: string) => sql`${sql.raw(alias)}.tenant_id = ${sql.placeholder("tenantId")}`;
const update = statement(sql`
  update ${media} set uses = c.right_uses
  from (with ${uses((alias) => isNamed(alias), ofTenant)} select * from compared where uses <> right_uses) c
  where ${media}.id = c.record`);

export const pictureUses: RecordCheck = {
  id: "pictures",
  about: "The uses of a picture are the number of products and variants that show it.",
  select,
  updates: [update],
};
