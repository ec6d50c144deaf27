import { mkdtemp, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Ctx } from "../../../server/context.ts";
import { type OrderMailKind, orderMailKinds } from "../../../server/modules/mail/kinds.ts";
import { withTenant } from "../../context/context.ts";
import { defineAct } from "../../context/store-command.ts";
import { choiceArg, requiredNamespaceArg, valueArg } from "../../framework/args.ts";
import { defineCommand } from "../../framework/command.ts";
import { fitLines, printRecord } from "../../terminal/console.ts";
import { openBrowser } from "../../terminal/open-browser.ts";
import { escapeControls } from "../../terminal/text.ts";

const service = () => import("../../../server/modules/orders/mails/order-mail.ts");

const kinds = orderMailKinds.map((kind) => kind.replace("order_", ""));
const args = {
  namespace: requiredNamespaceArg,
  order: valueArg("order", "Number, id or transfer reference of the order", { required: true, completes: "order" }),
  kind: { ...choiceArg(kinds, "Kind of mail"), required: true },
} as const;

async function readChoice(ctx: Ctx, given: { order: string; kind: string }): Promise<[string, OrderMailKind]> {
  const { findOrder } = await import("../../../server/modules/orders/list.ts");
  return [(await findOrder(ctx, given.order)).id, `order_${given.kind}` as OrderMailKind];
}

export const previewCommand = defineCommand({
  description: "Show a mail about an order as it would be sent now",
  args: {
    ...args,
    language: valueArg("tag", "Language of the mail (default: the order's)"),
    open: { type: "boolean", description: "Open the mail in a browser" },
  },
  examples: ["bodega mail preview -n demo --order 17 --kind paid --open"],
  async run(given, console) {
    const { previewOrderMail } = await service();
    const { language, open } = given;
    const mail = await withTenant(given, console, async (ctx) =>
      previewOrderMail(ctx, ...(await readChoice(ctx, given)), language),
    );
    const { html, text, ...shown } = mail;
    if (open) {
      const path = join(await mkdtemp(join(tmpdir(), "bodega-")), "mail.html");
      // Only the owner can read the file, because its link opens the order.
      await writeFile(path, html, { mode: 0o600 });
      openBrowser(path, console.env);
    }
    await printRecord(console, console.json ? mail : shown);
    if (console.json || console.quiet) return;
    // Marks of the text's direction would be printed as escapes.
    const lines = text
      .replace(/\p{Bidi_Control}/gu, "")
      .split("\n")
      .map(escapeControls);
    await console.write(`\n${fitLines(console, lines.join("\n"))}`);
  },
});

export const resendCommand = defineAct({
  description: "Send a mail about an order again",
  args,
  examples: ["bodega mail resend -n demo --order 17 --kind shipped"],
  notes: ["The kinds shipped and refunded are about the newest parcel or refund."],
  done: "Queued the mail to {to}.",
  act: async (ctx, given) => (await service()).resendOrderMail(ctx, ...(await readChoice(ctx, given))),
});
