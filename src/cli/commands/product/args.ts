import type { Ctx } from "../../../server/context.ts";
import type { listProducts, ProductDocument } from "../../../server/modules/products/list/list.ts";
import { currencyDigits } from "../../../server/modules/tenants/currency.ts";
import { formatMinor } from "../../../server/values/money.ts";
import { type FlagArg, namespaceArg, type PositionalArg } from "../../framework/args.ts";
import type { Console } from "../../terminal/console.ts";
import { formatValue, printList, printRecord } from "../../terminal/output.ts";

type ProductListQuery = Parameters<typeof listProducts>[1];
type Variant = ProductDocument["variants"][number];

/** A product as the terminal prints it: the API's record, with the id named as everywhere in the terminal. */
export type ProductRecord = { product_id: string } & Omit<ProductDocument, "id">;

/** The store whose products a command is about. */
export const productNamespaceArg = { ...namespaceArg, required: true } as const satisfies FlagArg;

/** The product that a command is about. */
export const productArg = {
  type: "positional",
  required: true,
  completes: "product",
  description: "Id, slug or SKU of the product; the SKU of a variant names its product",
} as const satisfies PositionalArg;

/** The terminal's record of the API's. */
export function toProductRecord({ id, ...rest }: ProductDocument): ProductRecord {
  return { product_id: id, ...rest };
}

/** An amount with all decimals of its currency: `19.90 EUR`. */
export function formatPrice(minor: number, currency: string): string {
  return `${formatMinor(minor, currencyDigits(currency))} ${currency}`;
}

/** How many can be sold: `7`, `7 of 9` where orders hold some, `not counted`. */
export function formatStock({ stock, available }: Pick<Variant, "stock" | "available">): string {
  if (stock === null) return "not counted";
  return available === stock ? String(stock) : `${available} of ${stock}`;
}

const pageSize = 100;

/**
 * The products that fit, at most `limit`, gathered from as many pages as that takes, and whether there are more.
 * @throws AppError those of `listProducts`.
 */
export async function listProductRecords(
  ctx: Ctx,
  filter: Omit<ProductListQuery, "limit" | "cursor">,
  limit: number,
): Promise<{ products: ProductRecord[]; hasMore: boolean }> {
  const { listProducts } = await import("../../../server/modules/products/list/list.ts");
  const products: ProductRecord[] = [];
  let cursor: string | undefined;
  do {
    const size = Math.min(pageSize, limit - products.length);
    const page = await listProducts(ctx, { ...filter, limit: size, ...(cursor !== undefined && { cursor }) });
    products.push(...(JSON.parse(page.json) as ProductDocument[]).map(toProductRecord));
    cursor = page.page.next_cursor ?? undefined;
  } while (cursor !== undefined && products.length < limit);
  return { products, hasMore: cursor !== undefined };
}

/** Prints one product: a JSON object, its id only, or all of it for people: what it is, then its variants. */
export async function printProduct(console: Console, product: ProductDocument): Promise<void> {
  const record = toProductRecord(product);
  if (console.json || console.quiet) return printRecord(console, record, "product_id");
  const { variants, currency, price_minor, stock, available, images, metadata, translations, ...rest } = record;
  const { price: _price, compare_at_price, ...fields } = rest;
  await printRecord(
    console,
    {
      ...fields,
      price: formatPrice(price_minor, currency),
      compare_at_price: compare_at_price === null ? null : `${compare_at_price} ${currency}`,
      stock: formatStock({ stock, available }),
      images: images.map(({ url }) => url),
      metadata: Object.keys(metadata).length === 0 ? null : metadata,
      translations: Object.keys(translations),
      variants: variants.length,
    },
    "product_id",
  );
  if (variants.length === 0) return;
  await console.write("\n");
  await printList(console, variants, {
    id: (variant) => variant.id,
    empty: "",
    columns: [
      { header: "VARIANT ID", value: (variant) => variant.id, whole: true },
      { header: "TITLE", value: (variant) => variant.title },
      { header: "SKU", value: (variant) => formatValue(variant.sku) },
      { header: "PRICE", value: (variant) => formatPrice(variant.price_minor, variant.currency) },
      { header: "STOCK", value: (variant) => formatStock(variant) },
    ],
  });
}
