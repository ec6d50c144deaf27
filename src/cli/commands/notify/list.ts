import { withTenant } from "../../context/context.ts";
import { defineCommand } from "../../framework/command.ts";
import { parseCount, parsePastTime } from "../../framework/parse-values.ts";
import { formatValue, printJson, printList } from "../../terminal/output.ts";
import { formatCounts, formatRecipients, notifyNamespaceArg, toMessageRecord } from "./args.ts";

export default defineCommand({
  name: "list",
  description: "List what a store has told its devices, newest first",
  args: {
    namespace: notifyNamespaceArg,
    topic: { type: "string", valueHint: "topic", description: "Only what was told about this" },
    user: { type: "string", valueHint: "id|email", completes: "user", description: "Only what this user was told" },
    since: { type: "string", valueHint: "duration|time", description: "Not older: 7d, or 2030-01-31T12:00:00Z" },
    limit: { type: "string", valueHint: "number", default: "50", description: "How many at most, up to 1000" },
  },
  examples: [
    "bodega notify list -n demo",
    "bodega notify list -n demo --topic sale --since 7d",
    "bodega notify list -n demo --limit 1000 --json",
  ],
  notes: ["Messages are kept for thirty days. What devices are told of orders is not among them."],
  async run(args, console) {
    const limit = parseCount("--limit", args.limit);
    const { topic, user } = args;
    const since = args.since === undefined ? undefined : parsePastTime("--since", args.since, Date.now());
    const { listMessageRecords } = await import("../../../server/modules/notifications/messages/messages.ts");
    const messages = await withTenant(args, console, async (ctx) => {
      const { resolveUserId } = await import("../../../server/modules/users/resolve.ts");
      const userId = user === undefined ? undefined : await resolveUserId(ctx, user);
      return listMessageRecords(ctx, limit, { topic, userId, since });
    });
    if (console.json) return printJson(console, messages.map(toMessageRecord));
    await printList(console, messages, {
      id: (message) => message.id,
      empty: "The store has told its devices nothing of the kind.",
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
