import { countOf } from "../../../server/health/finding.ts";
import type { MessageWithDeliveries } from "../../../server/modules/notifications/messages/message-model.ts";
import { parseLanguage } from "../../../server/modules/tenants/input.ts";
import { requireText } from "../../../server/values/fields.ts";
import { openCliOptions, withContext, withTenant } from "../../context/context.ts";
import {
  type CommandArgs,
  choiceArg,
  durationArg,
  limitArg,
  requiredNamespaceArg,
  sinceArg,
  userFilterArg,
  valueArg,
  wordArg,
} from "../../framework/args.ts";
import { defineCommand } from "../../framework/command.ts";
import { formatValue, info, invalidFlag, printList, printRecord } from "../../terminal/console.ts";
import { confirmAction } from "../../terminal/prompt.ts";
import { findUser } from "../user/user.ts";
import { formatCounts, formatRecipients, printMessage, toMessageRecord, warnOfUndeliverable } from "./print.ts";

const list = defineCommand({
  description: "List the notifications of a store, newest first",
  args: {
    namespace: requiredNamespaceArg,
    topic: valueArg("topic", "Filter by topic"),
    user: userFilterArg,
    since: sinceArg,
    limit: limitArg("50", 1000),
  },
  examples: ["bodega notify list -n demo --topic sale --since 7d"],
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
      limit,
    });
  },
});

const show = defineCommand({
  description: "Show a notification and its delivery status",
  args: {
    message_id: wordArg("Id of the notification"),
    namespace: requiredNamespaceArg,
  },
  examples: ["bodega notify show -n demo msg_01k8z3v5x2f1rt9m6q7wbn4hcd"],
  notes: [
    "Deliveries are counted by status. sent: accepted by the push service. dropped: the device is no longer registered. " +
      "expired: not delivered within --ttl. Notifications are kept for 30 days.",
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
  examples: ["bodega notify devices -n demo --topic sale"],
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
        ...(["registration_id", "platform", "lang", "topics"] as const),
        { header: "USER", value: (device) => formatValue(device.user_id) },
        { header: "REACHED", value: (device) => formatValue(device.is_proven) },
        "created_at",
      ],
      limit,
    });
  },
});

const remove = defineCommand({
  description: "Remove a browser or device, so that it gets no more notifications",
  args: {
    registration_id: wordArg("Id of the registration"),
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
    await printRecord(console, removed);
  },
});

const key = defineCommand({
  description: "Show the public VAPID key for browser subscriptions",
  args: {},
  examples: ["bodega notify key -q"],
  notes: ["Pass it to pushManager.subscribe() as applicationServerKey. It is public, and the same for all stores."],
  async run(args, console) {
    const { ensureVapidKeys } = await import("../../../server/modules/notifications/providers/vapid.ts");
    const { publicKey } = await withContext(args, console, ensureVapidKeys);
    await printRecord(console, { vapid_public_key: publicKey });
  },
});

const sendArgs = {
  namespace: requiredNamespaceArg,
  topic: valueArg("topic", "Send to the devices that subscribed to this topic"),
  user: valueArg("id|email", "Send to the devices of this user", { completes: "user", field: "customer_id" }),
  everyone: { type: "boolean", description: "Send to every device of the store" },
  title: valueArg("text", "Title, up to 200 characters", {
    required: true,
    check: (text) => requireText("title", text, 200),
  }),
  body: valueArg("text", "Text, up to 1000 characters", {
    required: true,
    check: (text) => requireText("body", text, 1000),
  }),
  url: valueArg("url", "Link: an https URL, or a path such as /sale"),
  data: valueArg("name=value", "Data for the shop's own code, such as campaign=7", { multiple: true }),
  lang: valueArg("tag", "Send to devices of this language only, such as en or pt-BR"),
  ttl: { ...durationArg("How long delivery is attempted, from 1m to 28d"), default: "1d" },
  "dry-run": { type: "boolean", description: "Check the notification and count the devices, but send nothing" },
} as const satisfies CommandArgs;

const send = defineCommand({
  description: "Send a notification to browsers and devices",
  args: sendArgs,
  oneOf: ["topic", "user", "everyone"],
  examples: ["bodega notify send -n demo --topic sale --title Sale --body 'Lamps at half price' --url /sale"],
  notes: [
    "The running server sends it within a second and retries for the duration of --ttl. Without a server it stays queued.",
    "Browsers need no settings. Android needs BODEGA_FCM_CREDENTIALS and iOS BODEGA_APNS_KEY in the server's environment.",
  ],
  done: "Queued the notification.",
  async run(args, console) {
    const { "dry-run": isDryRun, namespace } = args;
    const { topic, everyone, title, body, url } = args;
    const lang = args.lang === undefined ? undefined : parseLanguage("lang", args.lang);
    const ttl = Math.floor(args.ttl / 1000);
    const fields = { title, body, ttl, topic, everyone: everyone || undefined, url, data: readData(args.data), lang };
    const { describeMessage, prepareMessage, sendMessage } = await import(
      "../../../server/modules/notifications/messages/messages.ts"
    );
    const { readPushConfig } = await import("../../../server/config/config.ts");
    const { pushOptions } = await import("../../../server/config/push-config.ts");
    const push = pushOptions(readPushConfig(openCliOptions(args, console)));
    const prepared = await withTenant(args, console, async (ctx) =>
      prepareMessage({ ...ctx, push }, { ...fields, customer_id: await findUser(ctx, args.user) }),
    );
    const devices = countOf(
      Object.values(prepared.counts).reduce((sum, one) => sum + one, 0),
      "device",
    );
    const question = `Send the notification to ${devices} of store ${namespace}?`;
    if (args.everyone && !isDryRun) await confirmAction(console, question);
    const message = await withTenant(args, console, async (ctx) =>
      isDryRun ? describeMessage(ctx, prepared) : sendMessage({ ...ctx, push }, prepared),
    );
    await printMessage(console, message);
    await warnOfUndeliverable(console, message);
    if (Object.values(message.recipients).every((count) => count === 0)) await info(console, "No device matches.");
    if (!isDryRun) await info(console, `Check the delivery: bodega notify show -n ${namespace} ${message.id}`);
  },
});

function readData(pairs: readonly string[]): Record<string, string> | undefined {
  if (pairs.length === 0) return undefined;
  const entries = pairs.map((pair) => /^([^=]+)=(.*)$/s.exec(pair)?.slice(1));
  if (entries.includes(undefined)) throw invalidFlag("--data", "must be name=value, such as campaign=7");
  return Object.fromEntries(entries as string[][]);
}

export default { send, list, show, devices, remove, key };
