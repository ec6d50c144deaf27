import { withTenant } from "../../context/context.ts";
import { defineCommand } from "../../framework/command.ts";
import { limitArg, readPastTime, requiredNamespaceArg, sinceArg, userFilterArg } from "../../framework/list-args.ts";
import { parseCount } from "../../framework/parse-values.ts";
import { formatValue, printJson, printList } from "../../terminal/output.ts";
import { formatCounts, formatRecipients, toMessageRecord } from "./args.ts";

export default defineCommand({
  name: "list",
  description: "List the notifications of a store, newest first",
  args: {
    namespace: requiredNamespaceArg,
    topic: { type: "string", valueHint: "topic", description: "Filter by topic" },
    user: userFilterArg,
    since: sinceArg,
    limit: limitArg("50", 1000),
  },
  examples: [
    "bodega notify list -n demo",
    "bodega notify list -n demo --topic sale --since 7d",
    "bodega notify list -n demo --limit 1000 --json",
  ],
  notes: ["Notifications are kept for 30 days. Automatic notifications about orders are not listed."],
  async run(args, console) {
    const limit = parseCount("--limit", args.limit);
    const { topic, user } = args;
    const since = readPastTime("--since", args.since, Date.now());
    const { listMessageRecords } = await import("../../../server/modules/notifications/messages/messages.ts");
    const messages = await withTenant(args, console, async (ctx) => {
      const { resolveUserId } = await import("../../../server/modules/users/resolve.ts");
      const userId = user === undefined ? undefined : await resolveUserId(ctx, user);
      return listMessageRecords(ctx, limit, { topic, userId, since });
    });
    if (console.json) return printJson(console, messages.map(toMessageRecord));
    await printList(console, messages, {
      id: (message) => message.id,
      empty: "No notifications found.",
      columns: [
        { header: "MESSAGE ID", value: (message) => message.id, whole: true },
        { header: "TO", value: formatRecipients },
        { header: "TITLE", value: (message) => formatValue(message.title) },
        { header: "DEVICES", value: (message) => formatCounts(message.deliveries) },
        { header: "CREATED", value: (message) => message.created_at },
      ],
    });
  },
});
