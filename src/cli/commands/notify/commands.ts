import type { MessageWithDeliveries } from "../../../server/modules/notifications/messages/message-model.ts";
import { withContext, withTenant } from "../../context/context.ts";
import { choiceArg, valueArg } from "../../framework/args.ts";
import { defineCommand } from "../../framework/command.ts";
import { limitArg, noteLimit, requiredNamespaceArg, sinceArg, userFilterArg } from "../../framework/list-args.ts";
import { formatValue, printList, printRecord } from "../../terminal/output.ts";
import { confirmAction } from "../../terminal/prompt.ts";
import { findUser } from "../user/args.ts";
import { formatCounts, formatRecipients, printMessage, toMessageRecord } from "./print.ts";

const list = defineCommand({
  description: "List the notifications of a store, newest first",
  args: {
    namespace: requiredNamespaceArg,
    topic: valueArg("topic", "Filter by topic"),
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
    const { topic, user, since, limit } = args;
    const { listMessageRecords } = await import("../../../server/modules/notifications/messages/messages.ts");
    const messages = await withTenant(args, console, async (ctx) =>
      listMessageRecords(ctx, limit, { topic, userId: await findUser(ctx, user), since }),
    );
    await printList(console, messages.map(toMessageRecord), {
      empty: "No notifications found.",
      columns: [
        "message_id",
        { header: "TO", value: formatRecipients },
        "title",
        { header: "DEVICES", value: (message) => formatCounts(message.deliveries) },
        "created_at",
      ],
    });
  },
});

const show = defineCommand({
  description: "Show a notification and its delivery status",
  args: {
    message_id: { type: "positional", required: true, description: "Id of the notification" },
    namespace: requiredNamespaceArg,
  },
  examples: ["bodega notify show -n demo msg_01k8z3v5x2f1rt9m6q7wbn4hcd"],
  notes: [
    "Deliveries are counted by status. waiting: queued or being retried. sent: accepted by the push service. failed: given " +
      "up. dropped: the device is no longer registered. expired: not delivered within --ttl.",
    "Notifications are kept for 30 days.",
  ],
  async run(args, console) {
    const { getMessage } = await import("../../../server/modules/notifications/messages/messages.ts");
    const { json } = await withTenant(args, console, (ctx) => getMessage(ctx, args.message_id));
    await printMessage(console, JSON.parse(json) as MessageWithDeliveries);
  },
});

const devices = defineCommand({
  description: "List browsers and devices registered for notifications, newest first",
  args: {
    namespace: requiredNamespaceArg,
    topic: valueArg("topic", "Filter by topic"),
    user: userFilterArg,
    platform: choiceArg(["web", "ios", "android"], "Filter by platform"),
    limit: limitArg("50"),
  },
  examples: [
    "bodega notify devices -n demo --topic sale",
    "bodega notify devices -n demo --user ada@example.com --json",
  ],
  notes: ["Endpoints and tokens are not shown, because they are enough to send notifications."],
  async run(args, console) {
    const { topic, user, platform, limit } = args;
    const { listRegistrations } = await import("../../../server/modules/notifications/registrations/registrations.ts");
    const devices = await withTenant(args, console, async (ctx) =>
      listRegistrations(ctx, { topic, userId: await findUser(ctx, user), platform, limit }),
    );
    await printList(console, devices, {
      empty: "No devices found.",
      columns: [
        "registration_id",
        { header: "PLATFORM", value: (device) => device.platform, whole: true },
        "lang",
        "topics",
        { header: "USER", value: (device) => formatValue(device.user_id) },
        { header: "REACHED", value: (device) => formatValue(device.is_proven) },
        "created_at",
      ],
    });
    if (devices.length === limit) await noteLimit(console, limit);
  },
});

const remove = defineCommand({
  description: "Remove a browser or device, so that it gets no more notifications",
  args: {
    registration_id: { type: "positional", required: true, description: "Id of the registration" },
    namespace: requiredNamespaceArg,
  },
  examples: ["bodega notify remove -n demo reg_01k8z3v5x2f1rt9m6q7wbn4hcd"],
  notes: ["The browser or app can register again."],
  done: "Removed device {registration_id}.",
  async run(args, console) {
    const { registration_id: id } = args;
    await confirmAction(console, `Remove device ${id}? It gets no more notifications.`);
    const { removeRegistration } = await import("../../../server/modules/notifications/registrations/registrations.ts");
    const removed = await withTenant(args, console, (ctx) => removeRegistration(ctx, id));
    await printRecord(console, removed, "registration_id");
  },
});

const key = defineCommand({
  description: "Show the public VAPID key for browser subscriptions",
  args: {},
  examples: ["bodega notify key -q"],
  notes: [
    "Pass it to pushManager.subscribe() as applicationServerKey. It is public, the same for all stores, and also in the " +
      "reply of GET /notifications/register/.",
  ],
  async run(args, console) {
    const { ensureVapidKeys } = await import("../../../server/modules/notifications/providers/vapid.ts");
    const { publicKey } = await withContext(args, console, ensureVapidKeys);
    await printRecord(console, { vapid_public_key: publicKey }, "vapid_public_key");
  },
});

export default { list, show, devices, remove, key };
