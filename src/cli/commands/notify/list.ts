import { withTenant } from "../../context.ts";
import { formatCounts, formatRecipients, notifyNamespaceArg, toMessageRecord } from "../../notify.ts";
import { parseCount } from "../../number-args.ts";
import { formatValue, printJson, printList } from "../../output.ts";
import { defineVerb } from "../../verb.ts";

export default defineVerb({
  name: "list",
  description: "List what a store has told its devices, newest first",
  args: {
    namespace: notifyNamespaceArg,
    limit: { type: "string", valueHint: "number", default: "50", description: "How many at most, up to 1000" },
  },
  examples: ["bodega notify list -n demo", "bodega notify list -n demo --limit 1000 --json"],
  notes: ["Messages are kept for thirty days. What devices are told of orders is not among them."],
  async run(args, io) {
    const limit = parseCount("--limit", args.limit);
    const { listMessageRecords } = await import("../../../server/modules/notifications/messages.ts");
    const messages = await withTenant(args, io, (ctx) => listMessageRecords(ctx, limit));
    if (io.json) return printJson(io, messages.map(toMessageRecord));
    await printList(io, messages, {
      id: (message) => message.id,
      empty: "The store has told its devices nothing.",
      columns: [
        { header: "MESSAGE_ID", value: (message) => message.id, whole: true },
        { header: "TO", value: formatRecipients },
        { header: "TITLE", value: (message) => formatValue(message.title) },
        { header: "DEVICES", value: (message) => formatCounts(message.deliveries) },
        { header: "CREATED", value: (message) => message.created_at },
      ],
    });
  },
});
