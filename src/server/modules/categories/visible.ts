import { type SQL, sql } from "drizzle-orm";
import { param } from "../../db/statement.ts";
import { categories } from "./table.ts";

/**
 * SQL for whether the caller may see a category: with `isOpen` any, otherwise published ones below published ones.
 * @param name of the table or its alias.
 */
export function isVisible(name: string): SQL {
  return sql`(${param("isOpen")} or not exists (
    with recursive above(id, up, published) as (
      select c.id, c.parent_id, c.published from ${categories} c where c.id = ${sql.raw(`${name}.id`)}
      union select c.id, c.parent_id, c.published from above a join ${categories} c on c.id = a.up)
    select 1 from above where not published))`;
}
