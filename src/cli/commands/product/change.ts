import type { Ctx } from "../../../server/context.ts";
import type { ProductDocument } from "../../../server/modules/products/list/list.ts";
import type { ProductInput, ProductPatch } from "../../../server/modules/products/model.ts";
import { currencyDigits } from "../../../server/modules/tenants/input.ts";
import { ambiguousAmount, parseMoney } from "../../../server/values/money.ts";
import { checkInTenant, withTenant } from "../../context/context.ts";
import { type ArgValues, type CommandArgs, choiceArg, numberArg, valueArg } from "../../framework/args.ts";
import { defineCommand, waysToChange } from "../../framework/command.ts";
import { requiredNamespaceArg } from "../../framework/list-args.ts";
import { parseDecimal } from "../../framework/parse-values.ts";
import { info, printRecord } from "../../terminal/output.ts";
import { confirmAction } from "../../terminal/prompt.ts";
import { invalidFlag } from "../../terminal/usage-error.ts";
import { findStockItem, productArgs } from "./commands.ts";
import { printProduct } from "./print.ts";
import { readTranslations, translationArgs } from "./translations.ts";

/** Reads `12.50` and `12,50`. Errors: UsageError for what may have a thousands separator, and for all that is not a number. */
function parsePrice(flag: string, text: string): number {
  const ambiguous = ambiguousAmount(text, false);
  if (ambiguous !== undefined) throw invalidFlag(flag, ambiguous);
  return parseDecimal(flag, text.replace(/^(\d+),(\d\d?)$/, "$1.$2"));
}

const fieldArgs = {
  title: valueArg("text", "Title"),
  price: {
    ...valueArg("amount", "Price in the store's currency, such as 19.90"),
    parse: parsePrice,
    check: checkInTenant(async (ctx, text) =>
      parseMoney("price", parsePrice("--price", text), currencyDigits(ctx.tenant.currency)),
    ),
  },
  "compare-at-price": {
    ...valueArg("amount", "Former price, which puts the product on sale; empty for none"),
    allowEmpty: true,
    field: "compare_at_price",
    parse: (flag: string, text: string) => (text ? parsePrice(flag, text) : null),
  },
  sku: { ...valueArg("text", "SKU"), allowEmpty: true },
  description: { ...valueArg("text", "Description"), allowEmpty: true },
  status: choiceArg(["draft", "published", "archived"], "Status"),
  category: {
    ...valueArg("category", "Category, by its id or slug; repeat it for several"),
    multiple: true,
    completes: "category",
    field: "category_ids",
  },
  tag: { ...valueArg("text", "Tag; repeat it for several; replaces all current ones"), multiple: true, field: "tags" },
  ...translationArgs,
} as const satisfies CommandArgs;

/** The given fields. */
function readFields(args: ArgValues<typeof fieldArgs>): ProductPatch {
  const { title, price, sku, description, status, category, tag, "compare-at-price": compare_at_price } = args;
  const lists = { ...(category.length > 0 && { category_ids: category }), ...(tag.length > 0 && { tags: tag }) };
  const translations = readTranslations(args);
  const fields = { title, price, compare_at_price, sku, description, status, translations, ...lists };
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}

const create = defineCommand({
  description: "Create a product",
  args: {
    namespace: requiredNamespaceArg,
    ...fieldArgs,
    title: { ...fieldArgs.title, required: true },
    price: { ...fieldArgs.price, required: true },
    stock: numberArg("items", "Stock on hand (default: not counted)"),
  },
  examples: ['bodega product create -n demo --title "Desk lamp" --price 39 --stock 5 --sku LAMP-1'],
  done: "Created product {title}.",
  notes: ["It is published unless --status says otherwise. Variants, pictures and the rest: bodega product import -h"],
  async run(args, console) {
    const input = { ...readFields(args), stock: args.stock ?? null } as ProductInput;
    const { createProduct } = await import("../../../server/modules/products/service.ts");
    const { json } = await withTenant(args, console, (ctx) => createProduct(ctx, input));
    await printProduct(console, JSON.parse(json));
  },
});

const update = defineCommand({
  description: "Update a product",
  args: { ...productArgs, ...fieldArgs },
  examples: [
    "bodega product update -n demo desk-lamp --price 35",
    "bodega product update -n demo LAMP-1 --status draft",
    "bodega product update -n demo LAMP-1 --price 29 --compare-at-price 35 --tag sale --title-in de=Lampe",
  ],
  notes: [
    "Fields without a flag keep their value. An empty --sku=, --description= or --compare-at-price= clears the field.",
  ],
  done: "Updated product {title}.",
  oneOf: waysToChange(...Object.keys(fieldArgs)),
  async run(args, console) {
    const patch = readFields(args);
    const { patchProduct } = await import("../../../server/modules/products/service.ts");
    const { json } = await withTenant(args, console, async (ctx) =>
      patchProduct(ctx, await findWhole(ctx, args.product), patch, { ifMatch: null }),
    );
    await printProduct(console, JSON.parse(json));
  },
});

const deleteCommand = defineCommand({
  description: "Delete a product; orders keep their lines",
  args: productArgs,
  examples: ["bodega product delete -n demo desk-lamp", "bodega product delete -n demo LAMP-1 --yes --json"],
  done: "Deleted product {title}.",
  async run(args, console) {
    const { deleteProduct, getProduct } = await import("../../../server/modules/products/service.ts");
    const deleted = await withTenant(args, console, async (ctx) => {
      const id = await findWhole(ctx, args.product);
      const { title, slug, variants } = JSON.parse((await getProduct(ctx, id)).json) as ProductDocument;
      const all = variants.length === 0 ? "" : ` with its ${variants.length} variants`;
      await confirmAction(console, `Delete product ${slug} (${title})${all} permanently?`);
      await deleteProduct(ctx, id, null);
      return { product_id: id, slug, title, deleted: true };
    });
    await printRecord(console, deleted, "product_id");
  },
});

/** The id of a product that is named by its id, slug or own SKU. Errors: UsageError for the SKU of one variant. */
async function findWhole(ctx: Ctx, name: string): Promise<string> {
  const { productId, variantId } = await findStockItem(ctx, name);
  if (variantId === null) return productId;
  const hint = `To change the product with all of its variants: ${productId}`;
  throw invalidFlag("<product>", `is one variant of a product (${name})`, hint);
}

/** `+5`, `-2` or `=10`. Errors: UsageError. */
function parseChange(flag: string, text: string) {
  const [, sign, digits] = /^([+=-])(\d{1,13})$/.exec(text) ?? [];
  if (sign === undefined) throw invalidFlag(flag, "must be such as +5, -2 or =10");
  return { isRelative: sign !== "=", amount: Number(sign === "-" ? `-${digits}` : digits) };
}

const stock = defineCommand({
  description: "Change the stock of a product or variant",
  args: {
    ...productArgs,
    change: {
      type: "positional",
      required: true,
      description: "Such as +5 or -2, or =10 to set the stock",
      parse: parseChange,
    },
    "dry-run": { type: "boolean", description: "Show the changed product and save nothing" },
  },
  examples: ["bodega product stock -n demo LAMP-1 +5", "bodega product stock -n demo desk-lamp -2 --dry-run"],
  done: "Changed the stock of product {title}.",
  notes: ["Stock that unpaid orders reserve cannot be taken away, but = sets any number, and begins to count."],
  async run(args, console) {
    const isDryRun = args["dry-run"];
    const { changeStock } = await import("../../../server/modules/products/stock.ts");
    const { getProduct } = await import("../../../server/modules/products/service.ts");
    const { inDryRun, inTransaction } = await import("../../../server/db/transaction.ts");
    const { json } = await withTenant(args, console, (ctx) =>
      (isDryRun ? inDryRun : inTransaction)(ctx, async (tx) => {
        const item = await findStockItem(tx, args.product);
        await changeStock(tx, item, args.change);
        return getProduct(tx, item.productId);
      }),
    );
    await printProduct(console, JSON.parse(json));
    if (isDryRun) await info(console, "Dry run: nothing was saved.");
  },
});

export default { create, update, delete: deleteCommand, stock };
