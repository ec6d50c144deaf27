import { withContext } from "../../context/context.ts";
import { namespaceArg } from "../../framework/args.ts";
import { defineCommand } from "../../framework/command.ts";
import { printRecord } from "../../terminal/output.ts";

export default defineCommand({
  name: "show",
  description: "Show the delivery status of a mail",
  args: {
    id: { type: "positional", required: true, description: "Id of the mail" },
    namespace: { ...namespaceArg, description: "Store that the mail must belong to" },
    "show-recipients": { type: "boolean", description: "Show the full address instead of a***@example.com" },
  },
  examples: ["bodega mail show mail_01k8z3v5x2f1rt9m6q7wbn4hcd --show-recipients"],
  notes: ["The content of a mail is never shown."],
  async run(args, console) {
    const { getMail } = await import("../../../server/modules/mail/list.ts");
    const { id, namespace, "show-recipients": showRecipients } = args;
    await printRecord(
      console,
      await withContext(args, console, (ctx) => getMail(ctx, id, { namespace, showRecipients })),
      "id",
    );
  },
});
