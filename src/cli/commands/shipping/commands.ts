import type { Ctx } from "../../../server/context.ts";
import type { ShippingRateDocument } from "../../../server/modules/shipping/service.ts";
import { type StoreArgs, withTenant } from "../../context/context.ts";
import { requiredNamespaceArg, wordArg } from "../../framework/args.ts";
import { defineCommand } from "../../framework/command.ts";
import { type Console, printList, warn } from "../../terminal/console.ts";
import { readSmallFile } from "../../terminal/small-file.ts";

export const ratesFileArg = wordArg("CSV file with the rates; - for standard input", { completes: "file" });

/** Warns about countries that the store ships to and has no tax rate for. */
export async function warnUntaxed(args: StoreArgs, console: Console): Promise<void> {
  const { listUntaxedCountries } = await import("../../../server/modules/shipping/service.ts");
  const countries = await withTenant(args, console, listUntaxedCountries);
  if (countries.length === 0) return;
  await warn(
    console,
    `The store ships to ${countries.join(", ")} and has no tax rate there, so these orders have no tax.`,
  );
}

const amounts = ["price", "free_from", "min_value", "max_value"] as const;
const weights = ["min_weight_g", "max_weight_g"] as const;
type Rate = ShippingRateDocument;

async function printRates(args: StoreArgs, console: Console, read: (ctx: Ctx) => Promise<Rate[]>): Promise<void> {
  const { formatPrice } = await import("../../../server/modules/tenants/input.ts");
  const { rates, currency } = await withTenant(args, console, async (ctx) => ({
    rates: await read(ctx),
    currency: ctx.tenant.currency,
  }));
  const isUsed = (name: keyof Rate) => rates.some((rate) => rate[name] != null);
  const amount = (name: (typeof amounts)[number]) => ({
    header: name.replaceAll("_", " ").toUpperCase(),
    value: ({ [name]: found }: Rate) => (found == null ? "-" : formatPrice(found, currency)),
  });
  await printList(console, rates, {
    empty: `No shipping rates: orders ship for 0. Set them: bodega shipping set -n ${args.namespace} rates.csv`,
    columns: [
      ...(["zone", "countries", "postcodes", "name"] as const),
      ...amounts.filter(isUsed).map(amount),
      ...weights.filter(isUsed),
      "tax_class",
    ],
    id: ({ id }) => id,
  });
  await warnUntaxed(args, console);
}

export const setCommand = defineCommand({
  description: "Replace the shipping rates of a store with those of a CSV file",
  args: { file: ratesFileArg, namespace: requiredNamespaceArg },
  examples: ["bodega shipping set -n demo rates.csv"],
  notes: [
    "Columns: zone,countries,postcodes,name,price,free_from,min_value,max_value,min_weight_g,max_weight_g,tax_class. " +
      "Countries and beginnings of postcodes are separated by spaces; * is everywhere else. name_de is the German name. " +
      "An empty cell is no bound; an empty tax_class is taxed as the goods.",
    "Of an address, one zone counts: that with the longest beginning of the postcode, else that of the country, else *.",
    "Later orders must choose one of the rates that apply. Before this, stores ship for 0.",
  ],
  async run(args, console) {
    const { importShippingRates } = await import("../../../server/modules/shipping/csv.ts");
    const text = await readSmallFile(console, args.file);
    await printRates(args, console, (ctx) => importShippingRates(ctx, text));
  },
});

export const showCommand = defineCommand({
  description: "Show the shipping rates of a store",
  args: { namespace: requiredNamespaceArg },
  examples: ["bodega shipping show -n demo"],
  async run(args, console) {
    const { listShippingRates } = await import("../../../server/modules/shipping/service.ts");
    await printRates(args, console, listShippingRates);
  },
});
