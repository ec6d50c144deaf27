import type { ProductDocument } from "../../../server/modules/catalogue/list/list.ts";
import type { ImportResult } from "../../../server/modules/catalogue/transfer/import.ts";
import type { MigrationReport } from "../../../server/modules/catalogue/transfer/migration/shop-table.ts";
import { currencyDigits } from "../../../server/modules/tenants/input.ts";
import { formatMinor } from "../../../server/values/money.ts";
import type { Console } from "../../terminal/console.ts";
import { escapeControls } from "../../terminal/escape.ts";
import { info, printJson, printList, printRecord, warn } from "../../terminal/output.ts";

export function toProductRecord({ id, ...rest }: ProductDocument) {
  return { product_id: id, ...rest };
}

export function formatPrice(minor: number, currency: string): string {
  return `${formatMinor(minor, currencyDigits(currency))} ${currency}`;
}

/** The stock for sale: `7`, `7 of 9` where orders reserve some, `not counted`. */
export function formatStock({ stock, available }: Pick<ProductDocument, "stock" | "available">): string {
  if (stock === null) return "not counted";
  return available === stock ? String(stock) : `${available} of ${stock}`;
}

export async function printProduct(console: Console, { json }: { json: string }): Promise<void> {
  const record = toProductRecord(JSON.parse(json));
  if (console.json || console.quiet) return printRecord(console, record);
  const { variants, currency, price_minor, stock, available, images, translations, ...rest } = record;
  const { price: _price, compare_at_price, ...fields } = rest;
  const shown = {
    ...fields,
    price: formatPrice(price_minor, currency),
    compare_at_price:
      compare_at_price === null ? null : `${compare_at_price.toFixed(currencyDigits(currency))} ${currency}`,
    stock: formatStock({ stock, available }),
    images: images.map(({ url }) => url),
    translations: Object.keys(translations),
    variants: variants.length,
  };
  await printRecord(console, shown);
  if (variants.length === 0) return;
  await console.write("\n");
  await printList(console, variants, {
    empty: "",
    columns: [
      { header: "VARIANT ID", value: (variant) => variant.id },
      "title",
      { header: "PRICE", value: (variant) => formatPrice(variant.price_minor, variant.currency) },
      { header: "STOCK", value: formatStock },
      "sku",
    ],
  });
}

const stopReasons = {
  error: "Stopped at an error",
  interrupted: "Interrupted",
  failure: "Aborted",
} as const;

type Imported = ImportResult & MigrationReport & { file: string };

export async function printImport(console: Console, result: Imported, isDryRun: boolean): Promise<number> {
  const { changes, errors, errors_omitted, stopped, last_line: line, source, left_out, file, ...counts } = result;
  const code = stopped === "interrupted" ? 130 : counts.failed > 0 ? 1 : 0;
  if (console.json) {
    const { file: _, ...answer } = result;
    await printJson(console, { ...answer, dry_run: isDryRun });
    return code;
  }
  const name = file === "-" ? "" : `${file}, `;
  for (const { line, field, message } of errors) {
    await console.writeError(
      `${escapeControls(`${name}line ${line}: ${field === null ? "" : `${field}: `}${message}`)}\n`,
    );
  }
  if (errors_omitted > 0) await console.writeError(`… and ${errors_omitted} more errors\n`);
  for (const { line, title, fields } of isDryRun && !console.quiet ? changes : []) {
    const done = fields ? `updates ${fields.join(", ")} of ${title}` : `creates ${title}`;
    await console.writeError(`${escapeControls(`line ${line}: ${done}`)}\n`);
  }
  if (source && !console.quiet) await printLeftOut(console, source, left_out);
  if (!console.quiet) await printRecord(console, { ...counts, dry_run: isDryRun });
  if (stopped !== null && !isDryRun && counts.created + counts.updated + counts.unchanged === 0) {
    await warn(console, `Nothing was saved. ${stopReasons[stopped]}; correct the file and import it again.`);
  } else if (stopped !== null) {
    const done = isDryRun ? "checked" : "saved";
    await warn(
      console,
      `${stopReasons[stopped]} after line ${line}. The products counted above are ${done}; later lines are not.`,
    );
  }
  if (isDryRun) await info(console, "Dry run: nothing was saved.");
  return code;
}

async function printLeftOut(console: Console, source: string, { columns, rows }: Imported["left_out"]) {
  const said = [`The file is a product export of ${source === "shopify" ? "Shopify" : "WooCommerce"}.`];
  if (columns.length > 0) said.push(`left out, because products have no such field: ${columns.join(", ")}`);
  for (const { reason, lines } of rows) {
    const more = lines.length > 20 ? ` and ${lines.length - 20} more` : "";
    said.push(`left out, line ${lines.slice(0, 20).join(", ")}${more}: ${reason}`);
  }
  await console.writeError(`${said.map(escapeControls).join("\n")}\n`);
}
