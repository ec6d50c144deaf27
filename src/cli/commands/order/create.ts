import type { Ctx } from "../../../server/context.ts";
import type { OrderDocument } from "../../../server/modules/orders/list.ts";
import type { OrderInput } from "../../../server/modules/orders/model.ts";
import { withTenant } from "../../context/context.ts";
import {
  type ArgValues,
  type CommandArgs,
  choiceArg,
  durationArg,
  requiredNamespaceArg,
  valueArg,
} from "../../framework/args.ts";
import { defineCommand } from "../../framework/command.ts";
import { info, invalidFlag } from "../../terminal/console.ts";
import { findUser } from "../user/user.ts";
import { splitQuantity } from "./order.ts";
import { printOrder } from "./print.ts";

const addressArg = (hint: string, description: string, part: string) =>
  valueArg(hint, description, { field: `shipping_address.${part}` });

const addressFlags = {
  name: addressArg("text", "Name of the recipient", "name"),
  company: addressArg("text", "Company of the recipient", "company"),
  line1: addressArg("text", "Street and number", "line1"),
  line2: addressArg("text", "Second line of the address", "line2"),
  "postal-code": addressArg("code", "Postal code", "postal_code"),
  city: addressArg("text", "City", "city"),
  region: addressArg("text", "Region or state", "region"),
  country: addressArg("code", "Country, such as DE (default: the country of the store)", "country"),
} as const satisfies CommandArgs;

const flags = {
  namespace: requiredNamespaceArg,
  item: valueArg("SKU[:quantity]", "Product or variant, by SKU, slug or id, and how many (default: 1)", {
    required: true,
    multiple: true,
    field: "items",
  }),
  customer: valueArg("id|email", "Customer who orders (default: a guest)", { completes: "user", field: "customer_id" }),
  email: valueArg("address", "Email of the buyer (default: the customer's; without one, no mail is sent)"),
  phone: valueArg("number", "Phone number of the buyer"),
  ...addressFlags,
  "shipping-rate": valueArg("id|name", "Shipping rate, if the store has rates; --dry-run shows the rates that apply"),
  discount: valueArg("code", "Discount code", { field: "discount_code" }),
  "payment-method": choiceArg(["manual", "stripe"], "How the order will be paid; manual is a bank transfer"),
  hold: {
    ...durationArg("How long the unpaid order reserves stock, 1m to 30d (default: as the store sets it)"),
    field: "expires_in",
  },
  note: valueArg("text", "Note of the buyer"),
  "dry-run": { type: "boolean", description: "Show the order and its costs; place nothing" },
} as const satisfies CommandArgs;

type Args = ArgValues<typeof flags>;

async function readItem(ctx: Ctx, text: string): Promise<OrderInput["items"][number]> {
  const { resolveStockItem } = await import("../../../server/modules/catalogue/products/resolve.ts");
  const { name, quantity = 1 } = splitQuantity(text);
  const { productId, variantId } = await resolveStockItem(ctx, name);
  return variantId === null ? { product_id: productId, quantity } : { variant_id: variantId, quantity };
}

function readAddress(ctx: Ctx, args: Args): NonNullable<OrderInput["shipping_address"]> | undefined {
  const given = Object.entries(addressFlags).flatMap(([flag]) => {
    const value = args[flag as keyof typeof addressFlags];
    return value === undefined ? [] : [[flag.replaceAll("-", "_"), value]];
  });
  if (given.length === 0) return undefined;
  const { line1, city } = args;
  if (line1 === undefined) throw invalidFlag("--line1", "is required in an address");
  if (city === undefined) throw invalidFlag("--city", "is required in an address");
  const country = (args.country ?? ctx.tenant.country)?.toUpperCase();
  if (country === undefined) throw invalidFlag("--country", "is required, because the store has no country");
  return { ...Object.fromEntries(given), line1, city, country };
}

async function readInput(ctx: Ctx, args: Args): Promise<OrderInput> {
  const { email, phone, discount, "payment-method": method, hold, note } = args;
  return {
    items: await Promise.all(args.item.map((text) => readItem(ctx, text))),
    customer_id: await findUser(ctx, args.customer),
    shipping_address: readAddress(ctx, args),
    expires_in: hold && hold / 1000,
    ...{ email, phone, note, discount_code: discount, payment_method: method },
  };
}

/** Finds a shipping rate that applies to the order, by id or name. Errors: malformedRequest with a list of these. */
async function findRate(ctx: Ctx, input: OrderInput, named: string | undefined): Promise<string | null> {
  const { createOrder, prepareOrder } = await import("../../../server/modules/orders/create.ts");
  const { formatPrice } = await import("../../../server/modules/tenants/input.ts");
  const { json } = await createOrder(ctx, await prepareOrder(ctx, input, true), true);
  const { shipping_rates: offers } = JSON.parse(json) as OrderDocument;
  if (offers === undefined && named === undefined) return null;
  if (offers === undefined) throw invalidFlag("--shipping-rate", "cannot be used: this order needs no shipping rate");
  if (offers.length === 0)
    throw invalidFlag("--line1", "is required with the rest of the address, because the goods are shipped");
  const isNamed = ({ id, name }: (typeof offers)[number]) =>
    id === named || name.toLowerCase() === named?.toLowerCase();
  const found = offers.find(isNamed);
  if (found) return found.id;
  const list = offers.map((offer) => `${offer.name} (${formatPrice(offer.price, ctx.tenant.currency)})`).join(", ");
  const fault = named === undefined ? "is required" : "names no rate that applies";
  throw invalidFlag("--shipping-rate", fault, `Rates that apply: ${list}`);
}

export default defineCommand({
  description: "Place an order for a buyer, for example by telephone",
  args: flags,
  examples: ["bodega order create -n demo --item MUG-1:2 --email ada@example.com --payment-method manual"],
  notes: [
    "Prices, discounts, shipping and tax are the same as for an order from a website. The order reserves stock. When its " +
      "payment arrives, book it: bodega order pay -n <namespace> <order>",
  ],
  done: "Placed order {number}.",
  async run(args, console) {
    const { createOrder, prepareOrder } = await import("../../../server/modules/orders/create.ts");
    const isDryRun = args["dry-run"];
    const rateName = args["shipping-rate"];
    const placed = await withTenant(args, console, async (ctx) => {
      const read = await readInput(ctx, args);
      const isOpen = isDryRun && rateName === undefined;
      const input = isOpen ? read : { ...read, shipping_rate: await findRate(ctx, read, rateName) };
      const { json } = await createOrder(ctx, await prepareOrder(ctx, input, isDryRun), isDryRun);
      return JSON.parse(json) as OrderDocument;
    });
    await printOrder(console, placed);
    if (isDryRun) await info(console, "Dry run: nothing was saved.");
  },
});
