import type { Ctx } from "../../../server/context.ts";
import { countOf } from "../../../server/health/finding.ts";
import type { ProductDocument } from "../../../server/modules/catalogue/list/list.ts";
import type { ProductInput, ProductPatch, VariantInput } from "../../../server/modules/catalogue/products/model.ts";
import { ambiguousAmount } from "../../../server/values/money.ts";
import { withTenant } from "../../context/context.ts";
import { defineAct } from "../../context/store-command.ts";
import type { ArgValues, CommandArgs } from "../../framework/args.ts";
import { choiceArg, numberArg, requiredNamespaceArg, valueArg, wordArg } from "../../framework/args.ts";
import { defineCommand } from "../../framework/command.ts";
import { parseDecimal, parseWhole } from "../../framework/parse-values.ts";
import { info, invalidFlag, printRecord } from "../../terminal/console.ts";
import { confirmAction } from "../../terminal/prompt.ts";
import { printProduct, product, readGiven, translationArgs } from "./commands.ts";

const service = () => import("../../../server/modules/catalogue/products/service.ts");
const transaction = () => import("../../../server/db/transaction.ts");

/** Reads a price such as `12.50` or `12,50`. Errors: malformedRequest, also for `1,250`, which has two meanings. */
function parsePrice(flag: string, text: string): number {
  const ambiguous = ambiguousAmount(text, false);
  if (ambiguous !== undefined) throw invalidFlag(flag, ambiguous);
  return parseDecimal(flag, text.replace(/^(\d+),(\d\d?)$/, "$1.$2"));
}

const fieldArgs = {
  title: valueArg("text", "Title"),
  price: valueArg("amount", "Price in the store's currency, such as 19.90", { parse: parsePrice }),
  "compare-at-price": valueArg("amount", "Former price, which puts the product on sale; empty for none", {
    allowEmpty: true,
    field: "compare_at_price",
    parse: (flag: string, text: string) => (text ? parsePrice(flag, text) : null),
  }),
  sku: valueArg("text", "SKU", { allowEmpty: true }),
  slug: valueArg("text", "Name in addresses (default: made from the title)"),
  description: valueArg("text", "Description", { allowEmpty: true }),
  status: choiceArg(["draft", "published", "archived"], "Status"),
  category: valueArg("category", "Category, by its id or slug; repeat it for several", {
    multiple: true,
    completes: "category",
    field: "category_ids",
  }),
  tag: valueArg("text", "Tag; repeat it for several; replaces all current ones", { multiple: true, field: "tags" }),
  variant: valueArg("name=value,...", "Variant, such as size=L,sku=MUG-L,stock=5; repeat it for several", {
    multiple: true,
    field: "variants",
  }),
  ...translationArgs,
} as const satisfies CommandArgs;

function readFields(args: ArgValues<typeof fieldArgs>): ProductPatch {
  const { title, price, sku, slug, description, status, category, tag, "compare-at-price": compare_at_price } = args;
  const lists = { ...(category.length > 0 && { category_ids: category }), ...(tag.length > 0 && { tags: tag }) };
  return readGiven(args, { title, price, compare_at_price, sku, slug, description, status, ...lists });
}

const variantNote =
  "In --variant, title, sku, price and stock are fields; every other name is an option. A variant without a price has the product's price.";

const variantFields: Record<string, (value: string) => unknown> = {
  title: (value) => value,
  sku: (value) => value,
  price: (value) => (value === "" ? null : parsePrice("--variant price", value)),
  stock: (value) => (value === "" ? null : parseWhole("--variant stock", value, "items")),
};

/** Reads `size=L,sku=MUG-L,price=14,50,stock=5`: an option and three fields. Errors: malformedRequest. */
function parseVariant(text: string): VariantInput {
  const fields: Record<string, unknown> = {};
  const options: Record<string, string> = {};
  for (const part of text.split(/,(?=[^,=]+=)/)) {
    const [, name, value = ""] = /^\s*([^=]*[^=\s])\s*=\s*(.*?)\s*$/s.exec(part) ?? [];
    if (name === undefined) throw invalidFlag("--variant", "must be like size=L,sku=MUG-L,price=14.50,stock=5");
    const read = Object.hasOwn(variantFields, name) ? variantFields[name] : undefined;
    if (read) fields[name] = read(value);
    else options[name] = value;
  }
  return { ...fields, ...(Object.keys(options).length > 0 && { options }) };
}

export const createCommand = defineAct({
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
  notes: [
    "The product is published unless --status says otherwise. Pictures: bodega product image add -h. Many products: bodega product import -h",
    variantNote,
  ],
  async act(ctx, args) {
    const variants = args.variant.map(parseVariant);
    const input = { ...readFields(args), stock: args.stock ?? null, variants } as ProductInput;
    return (await service()).createProduct(ctx, input);
  },
  print: printProduct,
});

export const updateCommand = defineAct({
  description: "Update a product",
  args: { ...product.args, ...fieldArgs },
  examples: ["bodega product update -n demo LAMP-1 --price 29 --compare-at-price 35 --tag sale --title-in de=Lampe"],
  notes: [
    "Fields without a flag keep their value. An empty --sku=, --description= or --compare-at-price= clears the field.",
    `${variantNote} --variant updates the variant with the same SKU or, if no SKU is given, with the same options. If there is no such variant, it is added.`,
  ],
  done: "Updated product {title}.",
  anyOf: Object.keys(fieldArgs),
  async act(ctx, args) {
    const patch = readFields(args);
    const variants = args.variant.map((text) => ({ line: 1, document: parseVariant(text) }));
    const { getProduct, patchProduct } = await service();
    const { importVariants } = await import("../../../server/modules/catalogue/transfer/import-variant.ts");
    const { inTransaction } = await transaction();
    return inTransaction(ctx, async (tx) => {
      const id = await findWhole(tx, args.product);
      if (Object.keys(patch).length > 0) await patchProduct(tx, id, patch, { ifMatch: null });
      const before = { ...JSON.parse((await getProduct(tx, id)).json), ownSku: null };
      await importVariants(tx, before, { line: 1, document: {}, variants, faults: [], isCsv: false });
      return getProduct(tx, id);
    });
  },
  print: printProduct,
});

export const deleteCommand = defineCommand({
  description: "Delete a product; orders keep their lines",
  args: product.args,
  examples: ["bodega product delete -n demo desk-lamp"],
  done: "Deleted product {title}.",
  async run(args, console) {
    const { deleteProduct, getProduct } = await service();
    const { json } = await withTenant(args, console, async (ctx) =>
      getProduct(ctx, await findWhole(ctx, args.product)),
    );
    const { id, title, slug, variants } = JSON.parse(json) as ProductDocument;
    const all = variants.length === 0 ? "" : ` with its ${countOf(variants.length, "variant")}`;
    await confirmAction(console, `Delete product ${slug} (${title})${all}?`);
    await withTenant(args, console, (ctx) => deleteProduct(ctx, id, null));
    await printRecord(console, { product_id: id, slug, title, deleted: true });
    await info(console, `To bring it back: bodega product restore -n ${args.namespace} ${id}`);
  },
});

export const restoreCommand = defineAct({
  description: "Bring a deleted product back",
  args: { product: wordArg("Id, slug or SKU of the deleted product"), namespace: requiredNamespaceArg },
  examples: ["bodega product restore -n demo desk-lamp"],
  notes: [
    "If several deleted products had this slug or SKU, the last deleted one is restored. Uploaded pictures are kept for a day " +
      "after the deletion.",
  ],
  done: "Restored product {title}.",
  async act(ctx, args) {
    const { restoreProduct } = await import("../../../server/modules/catalogue/products/restore.ts");
    return restoreProduct(ctx, args.product);
  },
  print: printProduct,
});

/** Returns the id of a product named by id, slug or SKU. Errors: malformedRequest if the SKU is that of one variant. */
async function findWhole(ctx: Ctx, name: string): Promise<string> {
  const { productId, variantId } = await product.find(ctx, name);
  if (variantId === null) return productId;
  const hint = `For the product with all of its variants, use its id: ${productId}`;
  throw invalidFlag("<product>", `is one variant of a product (${name})`, hint);
}

export const stockCommand = defineAct({
  description: "Change the stock of a product or variant",
  args: {
    ...product.args,
    change: wordArg("Change such as +5 or -2, or =10 to set the stock", {
      parse: (flag: string, text: string) => {
        const [, sign, digits] = /^([+=-])(\d{1,13})$/.exec(text) ?? [];
        if (sign === undefined) throw invalidFlag(flag, "must be a number with a sign, such as +5, -2 or =10");
        return { isRelative: sign !== "=", amount: Number(sign === "-" ? `-${digits}` : digits) };
      },
    }),
  },
  examples: ["bodega product stock -n demo LAMP-1 +5", "bodega product stock -n demo desk-lamp -2"],
  done: "Changed the stock of product {title}.",
  notes: [
    "A change such as -2 cannot remove stock that unpaid orders reserve. A change such as =10 can, and also begins to count stock that was not counted.",
  ],
  async act(ctx, args) {
    const { changeStock } = await import("../../../server/modules/catalogue/products/stock.ts");
    const { getProduct } = await service();
    const { inTransaction } = await transaction();
    return inTransaction(ctx, async (tx) => {
      const item = await product.find(tx, args.product);
      await changeStock(tx, item, args.change);
      return getProduct(tx, item.productId);
    });
  },
  print: printProduct,
});
