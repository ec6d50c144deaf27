import type { Static } from "@sinclair/typebox";
import type { Ctx } from "../../../context.ts";
import { KeptMap } from "../../../db/kept-map.ts";
import { invalidField } from "../../../errors.ts";
import { decodeCursor } from "../../../pagination/cursor.ts";
import { type ListPage, toListPage } from "../../../pagination/list-page.ts";
import { defaultLimit, parseFields } from "../../../pagination/list-query.ts";
import type { Product } from "../model.ts";
import { seesDrafts } from "../service.ts";
import { languageChain } from "../translation.ts";
import { readFilters } from "./list-filters.ts";
import { type ProductListQuery, type ProductSortKey, productFields } from "./list-model.ts";
import { countMatches, findPage, namedBy } from "./list-plan.ts";
import type { PageRow } from "./list-shape.ts";

/**
 * Stores in whose lists translated products have been met. Only a hint: their lists look for languages at once, those of
 * others when they meet one.
 */
const translated = new KeptMap<true>(10_000);

/** A product as every reply shows it. */
export type ProductDocument = Static<typeof Product>;

/** A page of products. */
interface ProductPage extends ListPage {
  /** The languages of their titles, joined by commas, where there are any. */
  language?: string;
}

/**
 * One page of the tenant's products by keyset, so that the thousandth page costs what the first does, and none is
 * missed or repeated while others are added. Customers see published products only. With `q`, newest first.
 * @param lang the language in which texts are wanted; the store's default without it.
 * @throws malformedRequest for a cursor that is broken or belongs to another list, validationFailed for a filter at fault, forbidden for a
 * customer who asks for what is not published.
 */
export async function listProducts(ctx: Ctx, query: ProductListQuery, lang?: string): Promise<ProductPage> {
  const fields = parseFields(query.fields, productFields);
  const limit = query.limit ?? defaultLimit;
  const sort = query.sort ?? "-created_at";
  const descending = sort.startsWith("-");
  const key = (descending ? sort.slice(1) : sort) as ProductSortKey;
  if (query.q !== undefined && key !== "created_at") {
    throw invalidField("sort", "must be created_at or -created_at where q is given");
  }
  const isOpen = seesDrafts(ctx);
  const filters = readFilters(ctx, query, isOpen);
  const asked = [ctx.tenant.id, "products", sort, filters && Object.entries(filters).sort()];
  const after = query.cursor === undefined ? undefined : decodeCursor(query.cursor, asked);
  if (filters === null) {
    const none = { json: null, last: null, has_more: 0, total: query.include_total ? 0 : null };
    return toListPage(none, { asked, limit, fields });
  }

  const values = {
    ...filters,
    ...(filters.match !== undefined && { words: JSON.stringify(filters.match.split(" AND ")) }),
    tenantId: ctx.tenant.id,
    languages: languageChain(lang, ctx.tenant.language),
    value: after?.value,
    id: after?.id,
    limit,
    more: limit + 1,
    lastIndex: limit - 1,
  };
  const isTotalAsked = query.include_total ?? false;
  const isCounted = isTotalAsked && namedBy(filters) !== undefined;
  const isServed = translated.get(ctx.tenant.id) !== undefined;
  const shape = { key, descending, filters, isContinued: after !== undefined, isOpen, isCounted, isServed };
  let row = await findPage(ctx, shape, values);
  if (row?.is_unserved) {
    translated.set(ctx.tenant.id, true);
    row = await findPage(ctx, { ...shape, isServed: true }, values);
  }
  const total = isTotalAsked ? (row?.total ?? (await countMatches(ctx, filters, values))) : null;
  return {
    ...toListPage({ json: null, last: null, has_more: 0, ...row, total }, { asked, limit, fields }),
    ...(row?.first_language != null && { language: languagesOf(row) }),
  };
}

/** The languages of a page. Nearly every list has one; only where it has several are its documents looked into. */
function languagesOf({ json, first_language: first, last_language: last }: PageRow): string {
  if (first === last) return first as string;
  const documents = JSON.parse(`[${json}]`) as { lang: string }[];
  return [...new Set(documents.map(({ lang }) => lang))].join(", ");
}
