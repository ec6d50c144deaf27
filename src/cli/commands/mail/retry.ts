import { withContext } from "../../context/context.ts";
import { namespaceArg } from "../../framework/args.ts";
import { defineCommand } from "../../framework/command.ts";
import { printRecord } from "../../terminal/output.ts";
import { UsageError } from "../../terminal/usage-error.ts";

export default defineCommand({
  name: "retry",
  description: "Queue failed mail again, for the running server to send",
  args: {
    id: { type: "positional", required: false, variadic: true, description: "Ids of the mails" },
    all: { type: "boolean", description: "All that failed and is still of use" },
    namespace: { ...namespaceArg, description: "Only of this tenant" },
  },
  oneOf: {
    question: "Which mail?",
    ways: {
      id: "mails that you name",
      all: "all that failed and is still of use",
    },
  },
  examples: ["bodega mail retry mail_01k8z3v5x2f1rt9m6q7wbn4hcd", "bodega mail retry --all -n demo --json"],
  async run(args, console) {
    if (args.all === args.id.length > 0) throw new UsageError("Give either the ids of mails or --all.");
    const { retryMail } = await import("../../../server/modules/mail/retry.ts");
    const which = args.all ? "all" : args.id;
    const retried = await withContext(args, console, (ctx) => retryMail(ctx, { namespace: args.namespace, which }));
    await printRecord(console, { retried }, "retried");
  },
});
