import type { Ctx } from "../../../server/context.ts";
import type { TaxRate } from "../../../server/modules/taxes/model.ts";
import { type StoreArgs, withTenant } from "../../context/context.ts";
import { requiredNamespaceArg } from "../../framework/args.ts";
import { defineCommand } from "../../framework/command.ts";
import { type Console, printList } from "../../terminal/console.ts";
import { readSmallFile } from "../../terminal/small-file.ts";
import { ratesFileArg, warnUntaxed } from "../shipping/commands.ts";

async function printRates(args: StoreArgs, console: Console, read: (ctx: Ctx) => Promise<TaxRate[]>): Promise<void> {
  const rates = await withTenant(args, console, read);
  await printList(console, rates, {
    empty: `No tax rates: orders have no tax. Set them: bodega tax set -n ${args.namespace} taxes.csv`,
    columns: ["country", "class", { header: "RATE", value: ({ rate }) => `${rate} %` }],
    id: ({ country, class: name }) => `${country}:${name}`,
  });
  await warnUntaxed(args, console);
}

export const setCommand = defineCommand({
  description: "Replace the tax rates of a store with those of a CSV file",
  args: { file: ratesFileArg, namespace: requiredNamespaceArg },
  examples: ["bodega tax set -n demo taxes.csv"],
  notes: [
    "Columns: class,country,region,rate. The rate is in percent, with up to three decimals; region must be empty. " +
      "Classes are standard, reduced, zero and names of the store's own; products have one (default: standard).",
    "Later orders are taxed by the country of their address; without an address, by the store's country.",
  ],
  async run(args, console) {
    const { importTaxRates } = await import("../../../server/modules/taxes/csv.ts");
    const text = await readSmallFile(console, args.file);
    await printRates(args, console, (ctx) => importTaxRates(ctx, text));
  },
});

export const showCommand = defineCommand({
  description: "Show the tax rates of a store",
  args: { namespace: requiredNamespaceArg },
  examples: ["bodega tax show -n demo"],
  async run(args, console) {
    const { listTaxRates } = await import("../../../server/modules/taxes/service.ts");
    await printRates(args, console, listTaxRates);
  },
});
