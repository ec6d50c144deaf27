import { sql } from "drizzle-orm";
import type { Ctx } from "../../../context.ts";
import { get, param, statement } from "../../../db/statement.ts";
import { invalidField } from "../../../errors.ts";
import { isId } from "../../../values/ids.ts";
import { validate } from "../../../values/validate.ts";
import { parseLanguage } from "../../tenants/language.ts";
import { keptSku } from "../input.ts";
import { ProductInput, ProductPatch } from "../model.ts";
import { createProduct, patchProduct } from "../service.ts";
import { products, productVariants } from "../table.ts";
import { findChanges } from "./import-changes.ts";
import type { ImportItem } from "./import-item.ts";
import { importVariants, newVariant, type StandingVariant } from "./import-variant.ts";

const living = sql`tenant_id = ${param("tenantId")} and deleted_at is null`;

/** A product, and the SKU that it has without showing it while it has variants. */
type Found = { json: string; sku: string | null };
const selectById = statement<Found>(sql`
  select rendered as json, sku from ${products} where ${living} and id = ${param("key")}`);
const selectBySku = statement<Found>(sql`
  select rendered as json, sku from ${products} where ${living} and sku = ${param("key")}`);
const selectByVariantSku = statement<Found>(sql`
  select rendered as json, sku from ${products} where ${living}
    and id = (select product_id from ${productVariants} where ${living} and sku = ${param("key")})`);

type Fields = Record<string, unknown>;
/** A product as it stands, as far as an import looks at it. */
type Standing = Fields & {
  id: string;
  lang: string;
  currency: string;
  keptSku: string | null;
  variants: StandingVariant[];
};

/** What became of one product of a file. */
export type ImportOutcome = "created" | "updated" | "unchanged";

/**
 * Writes one product of a file, inside a transaction: the one that its id names, else its SKU, else the SKU of one of its
 * variants; a new one where there is none. What is not given stays, and so do variants that the file does not name.
 * @throws AppError as creating and changing a product do; validationFailed for an id that names nothing, and for another currency.
 */
export async function importProduct(tx: Ctx, item: ImportItem): Promise<ImportOutcome> {
  const { id, currency, lang: givenLang, ...given } = item.document;
  const lang = languageOf(givenLang);
  const standing = await findStanding(tx, item);
  const fields = canonical(given);
  if (item.variants.length > 0 || (standing && standing.variants.length > 0)) {
    requireCounted(fields.stock, item, standing);
    delete fields.stock;
  }
  if (!standing) {
    requireCurrency(currency, tx.tenant.currency);
    const variants = item.variants.map(({ document }, index) => newVariant(tx, document, index, fields.price));
    const whole = variants.length > 0 ? { ...fields, variants } : fields;
    await createProduct(tx, validate(ProductInput, whole, "row"), lang);
    return "created";
  }
  if (lang !== undefined && lang !== standing.lang) {
    throw invalidField("lang", `is ${standing.lang}; texts in other languages belong into translations`);
  }
  // It is named by that SKU still, though each variant is sold by its own.
  if (standing.variants.length > 0 && fields.sku === standing.keptSku) delete fields.sku;
  const changes = findChanges(standing, fields, item.isTable);
  const isPriced = "price" in changes || "compare_at_price" in changes;
  requireCurrency(currency, isPriced ? tx.tenant.currency : standing.currency);
  const isChanged = Object.keys(changes).length > 0;
  if (isChanged) await patchProduct(tx, standing.id, validate(ProductPatch, changes, "row"), null, standing.lang);
  const hasChangedVariants = await importVariants(tx, standing, item);
  return isChanged || hasChangedVariants ? "updated" : "unchanged";
}

async function findStanding(tx: Ctx, item: ImportItem): Promise<Standing | undefined> {
  const { document, variants, isTable } = item;
  const { id, sku } = document;
  const find = async (select: typeof selectById, key: string) => {
    const found = await get(tx.db, select, { tenantId: tx.tenant.id, key });
    return found && ({ ...JSON.parse(found.json), keptSku: found.sku } as Standing);
  };
  if (id !== undefined && id !== null) {
    const found = isId("prod", String(id)) ? await find(selectById, String(id)) : undefined;
    if (!found) throw invalidField("id", "names no product of this store; leave it out to create one");
    return found;
  }
  const key = skuOf(sku);
  if (key !== undefined) {
    const found = await find(selectBySku, key);
    if (found || variants.length > 0 || !(await find(selectByVariantSku, key))) return found;
    throw invalidField(
      "sku",
      isTable ? "is a variant's SKU: use variant_sku" : "is a variant's SKU: give it in variants",
    );
  }
  const keys = variants.map(({ document }) => skuOf(document.sku)).filter((key) => key !== undefined);
  for (const key of keys) {
    const found = await find(selectByVariantSku, key);
    if (found) return found;
  }
  return undefined;
}

/** A SKU that the database can be asked for; whatever else stands there is refused when it is written. */
function skuOf(sku: unknown): string | undefined {
  if (typeof sku !== "string" || sku === "" || sku.includes("\0") || !sku.isWellFormed()) return undefined;
  return keptSku(sku);
}

/** The fields in the form in which they are kept, so that what stands already is seen to. */
function canonical(given: Fields): Fields {
  const fields = { ...given };
  const { sku, slug, translations } = fields;
  if (typeof sku === "string") fields.sku = keptSku(sku);
  if (typeof slug === "string") fields.slug = slug.normalize("NFC");
  if (typeof translations === "object" && translations !== null && !Array.isArray(translations)) {
    const entries = Object.entries(translations);
    const tags = new Set(entries.map(([name]) => parseLanguage(`translations.${name.slice(0, 64)}`, name)));
    // Where two names are one language the check of the whole says so.
    if (tags.size === entries.length) {
      fields.translations = Object.fromEntries([...tags].map((tag, index) => [tag, entries[index]?.[1]]));
    }
  }
  return fields;
}

/**
 * Refuses pieces of a product that are counted by variant. What an export shows is the sum: it passes as it stands, and
 * beside the pieces of variants, which are what counts.
 */
function requireCounted(stock: unknown, { variants, isTable }: ImportItem, standing: Standing | undefined): void {
  if (stock === undefined || stock === null || stock === standing?.stock) return;
  if (variants.some(({ document }) => document.stock !== undefined && document.stock !== null)) return;
  throw invalidField("stock", `is counted by variant: use ${isTable ? "variant_stock" : "the stock of its variants"}`);
}

/** Refuses amounts that are meant in another currency than that which they would be taken for. */
function requireCurrency(given: unknown, needed: string): void {
  if (given === undefined || given === null || given === needed) return;
  throw invalidField("currency", `must be ${needed}, as prices are in this store`);
}

function languageOf(lang: unknown): string | undefined {
  if (lang === undefined || lang === null) return undefined;
  if (typeof lang !== "string") throw invalidField("lang", "must be a language code, such as en or pt-BR");
  return parseLanguage("lang", lang);
}
