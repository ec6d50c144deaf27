import { withTenant } from "../../context/context.ts";
import { defineCommand } from "../../framework/command.ts";
import { limitArg, noteLimit, requiredNamespaceArg, userFilterArg } from "../../framework/list-args.ts";
import { parseCount } from "../../framework/parse-values.ts";
import { formatValue, printList } from "../../terminal/output.ts";

export default defineCommand({
  name: "devices",
  description: "List browsers and devices registered for notifications, newest first",
  args: {
    namespace: requiredNamespaceArg,
    topic: { type: "string", valueHint: "topic", description: "Filter by topic" },
    user: userFilterArg,
    platform: { type: "enum", options: ["web", "ios", "android"], description: "Filter by platform" },
    limit: limitArg("50"),
  },
  examples: [
    "bodega notify devices -n demo --topic sale",
    "bodega notify devices -n demo --user ada@example.com --json",
  ],
  notes: ["Endpoints and tokens are not shown, because they are enough to send notifications."],
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
      empty: "No devices found.",
      columns: [
        { header: "REGISTRATION ID", value: (device) => device.registration_id, whole: true },
        { header: "PLATFORM", value: (device) => device.platform, whole: true },
        { header: "LANG", value: (device) => formatValue(device.lang) },
        { header: "TOPICS", value: (device) => formatValue(device.topics) },
        { header: "USER", value: (device) => formatValue(device.user_id) },
        { header: "REACHED", value: (device) => formatValue(device.is_proven) },
        { header: "CREATED", value: (device) => device.created_at },
      ],
    });
    if (devices.length === limit) await noteLimit(console, limit);
  },
});
