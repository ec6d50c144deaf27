import { sql } from "drizzle-orm";

/** SQL for a category as JSON text, in the order of the API. */
export const categoryJson = sql.raw(`json_object(
  'id', id, 'parent_id', parent_id, 'slug', slug, 'title', title, 'description', description,
  'translations', json(translations), 'position', position,
  'published', json(case when published then 'true' else 'false' end), 'lang', lang,
  'version', version, 'created_at', created_at, 'updated_at', updated_at)`);
