import { sql } from "drizzle-orm";
import { param } from "../../db/statement.ts";

/** SQL for a category as JSON text, in the order of the API. */
export const categoryJson = sql.raw(`json_object(
  'id', id, 'parent_id', parent_id, 'slug', slug, 'title', title, 'description', description,
  'translations', json(translations), 'position', position,
  'published', json(case when published then 'true' else 'false' end), 'lang', lang,
  'version', version, 'created_at', created_at, 'updated_at', updated_at)`);

/** SQL for whether the caller may see a category: with `isOpen` any, otherwise published ones below published ones. */
export const isVisible = sql`(${param("isOpen")} or not exists (
  with recursive above(id, up, published) as (
    select c.id, c.parent_id, c.published from categories c where c.id = categories.id
    union select c.id, c.parent_id, c.published from above a join categories c on c.id = a.up)
  select 1 from above where not published))`;
