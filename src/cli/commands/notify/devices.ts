import { withTenant } from "../../context/context.ts";
import { defineCommand } from "../../framework/command.ts";
import { parseCount } from "../../framework/parse-values.ts";
import { formatValue, info, printList } from "../../terminal/output.ts";
import { notifyNamespaceArg } from "./args.ts";

export default defineCommand({
  name: "devices",
  description: "List the browsers and devices that want to be told, newest first",
  args: {
    namespace: notifyNamespaceArg,
    topic: { type: "string", valueHint: "topic", description: "Only those who want to hear of this" },
    user: { type: "string", valueHint: "id|email", completes: "user", description: "Only those of this user" },
    platform: { type: "enum", options: ["web", "ios", "android"], description: "Only those of this platform" },
    limit: { type: "string", valueHint: "number", default: "50", description: "How many at most" },
  },
  examples: [
    "bodega notify devices -n demo --topic sale",
    "bodega notify devices -n demo --user ada@example.com --json",
  ],
  notes: ["Endpoints and tokens are not shown: whoever knows one can send to it."],
  async run(args, console) {
    const limit = parseCount("--limit", args.limit);
    const { topic, user, platform } = args;
    const { listRegistrations } = await import("../../../server/modules/notifications/registrations/registrations.ts");
    const devices = await withTenant(args, console, async (ctx) => {
      const { resolveUserId } = await import("../../../server/modules/users/resolve.ts");
      const userId = user === undefined ? undefined : await resolveUserId(ctx, user);
      return listRegistrations(ctx, { topic, userId, platform, limit });
    });
    await printList(console, devices, {
      id: (device) => device.registration_id,
      empty: "There is no such device.",
      columns: [
        { header: "REGISTRATION_ID", value: (device) => device.registration_id, whole: true },
        { header: "PLATFORM", value: (device) => device.platform, whole: true },
        { header: "LANG", value: (device) => formatValue(device.lang) },
        { header: "TOPICS", value: (device) => formatValue(device.topics) },
        { header: "USER", value: (device) => formatValue(device.user_id) },
        { header: "REACHED", value: (device) => formatValue(device.is_proven) },
        { header: "CREATED", value: (device) => device.created_at },
      ],
    });
    if (devices.length === limit) await info(console, `There may be more than ${limit}: give a greater --limit.`);
  },
});
