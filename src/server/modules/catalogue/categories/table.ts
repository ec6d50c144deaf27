import { sql } from "drizzle-orm";
import { type AnySQLiteColumn, check, index, integer, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";
import { param } from "../../../db/statement.ts";
import { tenantIdColumn } from "../../tenants/table.ts";

const categoryJson = sql.raw(`json_object(
  'id', id, 'parent_id', parent_id, 'slug', slug, 'title', title, 'description', description,
  'translations', json(translations), 'position', position,
  'published', json(case when published then 'true' else 'false' end), 'lang', lang,
  'version', version, 'created_at', created_at, 'updated_at', updated_at)`);

/** SQL condition: `includesDrafts` is set, or the category and all its ancestors are published. */
export const isVisible = sql`(${param("includesDrafts")} or not exists (
  with recursive above(id, up, published) as (
    select c.id, c.parent_id, c.published from categories c where c.id = categories.id
    union select c.id, c.parent_id, c.published from above a join categories c on c.id = a.up)
  select 1 from above where not published))`;

export const categories = sqliteTable(
  "categories",
  {
    id: text("id").primaryKey(),
    tenantId: tenantIdColumn(),
    parentId: text("parent_id").references((): AnySQLiteColumn => categories.id, { onDelete: "cascade" }),
    slug: text("slug").notNull(),
    title: text("title").notNull(),
    description: text("description"),
    /** JSON object with a `{title, description}` for each language other than `lang`. */
    translations: text("translations").notNull().default("{}"),
    position: integer("position").notNull().default(0),
    published: integer("published", { mode: "boolean" }).notNull().default(true),
    lang: text("lang").notNull(),
    version: integer("version").notNull().default(1),
    createdAt: text("created_at").notNull(),
    updatedAt: text("updated_at").notNull(),
    rendered: text("rendered").generatedAlwaysAs(categoryJson, { mode: "stored" }),
  },
  (t) => [
    uniqueIndex("categories_slug").on(t.tenantId, t.slug),
    index("categories_by_parent").on(t.parentId),
    index("categories_by_position").on(t.tenantId, t.position, t.id),
    check("categories_translations_size", sql`length(cast(${t.translations} as blob)) <= 524288`),
    check("categories_json", sql`json_valid(${t.translations})`),
  ],
);
