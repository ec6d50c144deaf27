import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { notFound } from "../../../server/errors.ts";
import { fileArg, valueArg } from "../../framework/args.ts";
import { defineCommand } from "../../framework/command.ts";
import { parseWhole } from "../../framework/parse-values.ts";
import { printJson, printList } from "../../terminal/console.ts";
import { prepareExport, writeExport } from "../../terminal/export-file.ts";
import { openBrowser } from "../../terminal/open-browser.ts";
import { order } from "./order.ts";

export const invoiceCommand = defineCommand({
  description: "Issue the invoice and the credit notes of a paid order, or show those that were issued",
  args: {
    ...order.args,
    output: fileArg("Write the page to this file", { alias: "o" }),
    open: { type: "boolean", description: "Open the page in a browser, to print it" },
    document: valueArg("number", "Number of the invoice or credit note to write or open (default: the invoice)", {
      parse: (flag: string, text: string) => parseWhole(flag, text, "number of an invoice"),
    }),
  },
  examples: ["bodega order invoice -n demo 17", "bodega order invoice -n demo 17 --open"],
  notes: [
    "Each refund that reduces the price gets a credit note. Invoices and credit notes are numbered together, without gaps, and never change.",
    "The store must have the seller's name and address: bodega tenant update <namespace> --invoice-from <text>",
  ],
  async run(args, console) {
    if (args.output !== undefined) await prepareExport(console, { output: args.output });
    const { issueInvoices } = await import("../../../server/modules/invoices/issue.ts");
    const { formatPrice } = await import("../../../server/modules/tenants/input.ts");
    const documents = await order.withRecord(args, console, (ctx, { id }) => issueInvoices(ctx, id));
    const { output, open, document: number } = args;
    const wanted = documents.find((one) => (number === undefined ? one.kind === "invoice" : one.number === number));
    if (number !== undefined && !wanted)
      throw notFound("invoice", String(number), { remedy: "Omit --document to list the invoices of the order." });
    if (output !== undefined || open) {
      if (wanted?.html == null)
        throw notFound("page of invoice", String(wanted?.number), { remedy: "It was erased with the buyer's data." });
      const path = output ?? join(await mkdtemp(join(tmpdir(), "bodega-")), `invoice-${wanted.number}.html`);
      // Only the owner can read the file, because it contains a name and an address.
      const file = { output: path, format: "csv", mode: 0o600, header: "", noun: "invoices" } as const;
      await writeExport(
        { ...console, json: false },
        { ...file, pages: [[wanted.html]], render: ([html = ""]) => html },
      );
      if (open) openBrowser(resolve(path), console.env);
    }
    if (console.json) return printJson(console, documents);
    await printList(console, documents, {
      id: (one) => String(one.number),
      empty: "No invoices found.",
      columns: [
        "number",
        { header: "KIND", value: ({ kind }) => kind.replace("_", " ") },
        { header: "TOTAL", value: ({ total, currency }) => formatPrice(total, currency) },
        "issued_at",
      ],
    });
  },
});
