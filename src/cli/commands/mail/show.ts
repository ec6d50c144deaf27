import { withContext } from "../../context/context.ts";
import { namespaceArg } from "../../framework/args.ts";
import { defineCommand } from "../../framework/command.ts";
import { printRecord } from "../../terminal/output.ts";

export default defineCommand({
  name: "show",
  description: "Show what became of one mail",
  args: {
    id: { type: "positional", required: true, description: "Id of the mail" },
    namespace: { ...namespaceArg, description: "Tenant that it must be of" },
    "show-recipients": { type: "boolean", description: "The whole address instead of a***@example.com" },
  },
  examples: [
    "bodega mail show mail_01k8z3v5x2f1rt9m6q7wbn4hcd",
    "bodega mail show mail_01k8z3v5x2f1rt9m6q7wbn4hcd --show-recipients --json",
  ],
  notes: ["What a mail says is shown to nobody but its recipient."],
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
