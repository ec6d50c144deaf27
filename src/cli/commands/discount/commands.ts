import type { Discount } from "../../../server/modules/discounts/model.ts";
import { recordArgs } from "../../context/context.ts";
import { limitArg } from "../../context/list-args.ts";
import { defineAct, defineList } from "../../context/store-command.ts";
import { type CommandArgs, numberArg, requiredNamespaceArg, valueArg, wordArg } from "../../framework/args.ts";
import { defineCommand } from "../../framework/command.ts";
import { parseDecimal } from "../../framework/parse-values.ts";
import { type Console, printRecord } from "../../terminal/console.ts";
import { confirmAction } from "../../terminal/prompt.ts";

const service = () => import("../../../server/modules/discounts/service.ts");

const load = async () => (await service()).getDiscount;
const discount = recordArgs("code", undefined, "The code, or its id", load);

function toRecord({ id, ...rest }: Discount) {
  const { amount_minor: _amount, minimum_minor: _minimum, ...shown } = rest;
  return { discount_id: id, ...shown };
}

function printDiscount(console: Console, found: Discount): Promise<void> {
  return printRecord(console, toRecord(found));
}

/** Formats the discount of a code for a table: `10 %`, `5`, or `free shipping`. */
function formatReduction({ percent, amount }: Pick<Discount, "percent" | "amount">): string {
  if (percent !== null) return `${percent} %`;
  return amount === null ? "free shipping" : String(amount);
}

const fieldArgs = {
  percent: valueArg("number", "Percentage off the goods", { parse: parseDecimal }),
  amount: valueArg("amount", "Amount off the goods", { parse: parseDecimal }),
  "free-shipping": { type: "boolean", description: "Shipping costs nothing" },
  minimum: valueArg("amount", "Minimum value of the goods in an order", { parse: parseDecimal }),
  limit: numberArg("uses", "Maximum number of uses"),
  "per-customer": numberArg("uses", "Maximum number of uses per customer or email address"),
  category: valueArg("category", "Discount only products of this category and its subcategories", {
    multiple: true,
    completes: "category",
  }),
  product: valueArg("product", "Discount only this product", { multiple: true, completes: "product" }),
  from: valueArg("time", "When the code becomes valid: a day, or 2026-12-01T08:00:00Z"),
  until: valueArg("time", "When the code expires: a day, or 2027-01-01T00:00:00Z"),
} as const satisfies CommandArgs;

export const createCommand = defineAct({
  description: "Create a discount code",
  args: { code: wordArg("The code that buyers enter"), namespace: requiredNamespaceArg, ...fieldArgs },
  oneOf: ["percent", "amount", "free-shipping"],
  examples: ["bodega discount create SUMMER10 -n demo --percent 10 --minimum 30 --limit 100 --until 2027-01-01"],
  done: "Created discount code {code}.",
  async act(ctx, args) {
    const { code, percent, amount, minimum, limit, from, until, category = [], product = [] } = args;
    const { createDiscount } = await service();
    const { getCategory } = await import("../../../server/modules/catalogue/categories/service.ts");
    const { resolveProductId } = await import("../../../server/modules/catalogue/products/resolve.ts");
    return createDiscount(ctx, {
      ...{ code, percent, amount, minimum, limit, from, until },
      ...(args["free-shipping"] && { free_shipping: true }),
      per_customer: args["per-customer"],
      category_ids: await Promise.all(category.map(async (name) => (await getCategory(ctx, name)).id)),
      product_ids: await Promise.all(product.map((name) => resolveProductId(ctx, name))),
    });
  },
  print: printDiscount,
});

export const listCommand = defineList({
  description: "List the discount codes of a store, newest first",
  args: { limit: limitArg("50", 100) },
  examples: ["bodega discount list -n demo"],
  async rows(ctx, { limit }) {
    const { listDiscounts } = await service();
    return (JSON.parse((await listDiscounts(ctx, { limit })).json) as Discount[]).map(toRecord);
  },
  empty: "No discount codes found. Create one: bodega discount create <code> -n {namespace} --percent 10",
  columns: [
    "code",
    { header: "OFF", value: (one) => formatReduction(one) },
    "minimum",
    "uses",
    "limit",
    "from",
    "until",
  ],
});

export const showCommand = defineAct({
  description: "Show a discount code",
  args: discount.args,
  examples: ["bodega discount show -n demo SUMMER10"],
  act: (ctx, args) => discount.find(ctx, args.code),
  print: printDiscount,
});

export const endCommand = defineCommand({
  description: "End a discount code now; orders with this code keep their discount",
  args: discount.args,
  examples: ["bodega discount end -n demo SUMMER10"],
  done: "Ended discount code {code}.",
  async run(args, console) {
    await confirmAction(console, `End discount code ${args.code}?`);
    const { endDiscountNow } = await service();
    await printDiscount(console, await discount.withRecord(args, console, (ctx, { id }) => endDiscountNow(ctx, id)));
  },
});
