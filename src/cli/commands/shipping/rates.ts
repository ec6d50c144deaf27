import { readFile } from "node:fs/promises";
import type { Ctx } from "../../../server/context.ts";
import { errnoOf } from "../../../server/errors.ts";
import { type StoreArgs, withTenant } from "../../context/context.ts";
import { requiredNamespaceArg, wordArg } from "../../framework/args.ts";
import { defineCommand } from "../../framework/command.ts";
import { type Console, invalidFlag, type ListView, printList, warn } from "../../terminal/console.ts";

const maxBytes = 1024 * 1024;

interface Rates<Rate> {
  noun: "shipping" | "tax";
  example: string;
  notes: readonly string[];
  replace(ctx: Ctx, csv: string): Promise<Rate[]>;
  list(ctx: Ctx): Promise<Rate[]>;
  view(rates: Rate[], ctx: Ctx): Omit<ListView<Rate>, "empty">;
  without: string;
}

/** Defines the commands that replace and show the rates of a store. */
export function defineRates<Rate>({ noun, example, notes, replace, list, view, without }: Rates<Rate>) {
  const printRates = (args: StoreArgs, console: Console, read: Rates<Rate>["list"]) =>
    withTenant(args, console, async (ctx) => {
      const { listUntaxed } = await import("../../../server/modules/shipping/service.ts");
      const rates = await read(ctx);
      const empty = `No ${noun} rates: ${without}. Set them: bodega ${noun} set -n ${args.namespace} ${example}`;
      await printList(console, rates, { ...view(rates, ctx), empty });
      const untaxed = await listUntaxed(ctx, ctx.tenant);
      const names = untaxed.map(({ country, taxClass }) => (taxClass === null ? country : `${country} (${taxClass})`));
      const risk = `The store has no tax rate for these countries, and ships there without tax: ${names.join(", ")}.`;
      if (names.length > 0) await warn(console, risk);
    });
  const setCommand = defineCommand({
    description: `Replace the ${noun} rates of a store with those of a CSV file`,
    args: {
      file: wordArg("CSV file with the rates; - for standard input", { completes: "file" }),
      namespace: requiredNamespaceArg,
    },
    examples: [`bodega ${noun} set -n demo ${example}`],
    notes,
    async run(args, console) {
      const text = await readSmallFile(console, args.file);
      await printRates(args, console, (ctx) => replace(ctx, text));
    },
  });
  const showCommand = defineCommand({
    description: `Show the ${noun} rates of a store`,
    args: { namespace: requiredNamespaceArg },
    examples: [`bodega ${noun} show -n demo`],
    run: (args, console) => printRates(args, console, list),
  });
  return { setCommand, showCommand };
}

/** Reads a text file of at most 1 MiB, or standard input for `-`. Errors: malformedRequest, validationFailed. */
async function readSmallFile(console: Console, path: string): Promise<string> {
  if (path === "-") return console.readInput(maxBytes);
  const bytes = await readFile(path).catch((error: unknown) => {
    const code = errnoOf(error);
    throw invalidFlag("<file>", code === "ENOENT" ? `does not exist: ${path}` : `cannot be read (${code}): ${path}`);
  });
  if (bytes.length > maxBytes) throw invalidFlag("<file>", `is larger than 1 MiB: ${path}`);
  return bytes.toString();
}
