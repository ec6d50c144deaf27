import { sql } from "drizzle-orm";
import type { Ctx } from "../../context.ts";
import { get, param, statement } from "../../db/statement.ts";
import { invalidField } from "../../errors.ts";
import { requireSafeText, requireText } from "../../values/text.ts";
import { requireWhole } from "../../values/whole-number.ts";
import { slugText, translationsText } from "../products/input.ts";
import { maxTitle } from "../products/model.ts";
import { unknownCategory } from "../products/product-errors.ts";
import { slugFrom } from "../products/slug.ts";
import type { CategoryPatch } from "./model.ts";
import { categories } from "./table.ts";

type Row = typeof categories.$inferSelect;

/** Column values of the given fields. */
export type CategoryColumns = Partial<
  Pick<Row, "parentId" | "slug" | "title" | "description" | "translations" | "position"> & {
    /** 0 or 1, because libsql cannot bind a boolean. */
    published: 0 | 1;
  }
>;

const selectId = statement<{ id: string }>(sql`
  select id from ${categories} where tenant_id = ${param("tenantId")} and ${param("name")} in (id, slug)`);

/** Validates what a schema cannot, and converts fields to columns. Errors: validationFailed naming the field. */
export async function categoryColumns(ctx: Ctx, input: CategoryPatch): Promise<CategoryColumns> {
  const { parent_id: parent, slug, title, description, translations, position, published } = input;
  const columns: CategoryColumns = {};
  if (title !== undefined) columns.title = requireText("title", title, maxTitle);
  if (slug !== undefined) columns.slug = slugText(slug);
  if (description !== undefined) columns.description = description && requireSafeText("description", description);
  if (translations !== undefined) columns.translations = translationsText(translations);
  if (position !== undefined) columns.position = requireWhole("position", position, 0, 1_000_000);
  if (published !== undefined) columns.published = published ? 1 : 0;
  if (parent === null) columns.parentId = null;
  if (typeof parent === "string") {
    const found = await get(ctx.db, selectId, { tenantId: ctx.tenant.id, name: parent.normalize("NFC") });
    if (!found) throw invalidField("parent_id", unknownCategory);
    columns.parentId = found.id;
  }
  return columns;
}

/** The slug that a category gets from its title. */
export function defaultCategorySlug(title: string): string {
  return slugFrom(title) || "category";
}
