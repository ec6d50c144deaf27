import { withContext } from "../../context/context.ts";
import { defineCommand } from "../../framework/command.ts";
import { namespaceFilterArg } from "../../framework/list-args.ts";
import { printRecord } from "../../terminal/output.ts";
import { UsageError } from "../../terminal/usage-error.ts";

export default defineCommand({
  name: "retry",
  description: "Queue failed mail again",
  args: {
    id: { type: "positional", required: false, variadic: true, description: "Ids of failed mails" },
    all: { type: "boolean", description: "Retry all failed mail that is still useful" },
    namespace: namespaceFilterArg,
  },
  oneOf: {
    question: "Which mail should be retried?",
    ways: {
      id: "mails by id",
      all: "all failed mail that is still useful",
    },
  },
  examples: ["bodega mail retry mail_01k8z3v5x2f1rt9m6q7wbn4hcd", "bodega mail retry --all -n demo --json"],
  async run(args, console) {
    if (args.all === args.id.length > 0) throw new UsageError("Give either mail ids or --all.");
    const { retryMail } = await import("../../../server/modules/mail/retry.ts");
    const which = args.all ? "all" : args.id;
    const retried = await withContext(args, console, (ctx) => retryMail(ctx, { namespace: args.namespace, which }));
    await printRecord(console, { retried }, "retried");
  },
});
