import type { Ctx } from "../../../server/context.ts";
import { countOf } from "../../../server/health/finding.ts";
import { parseLanguage } from "../../../server/modules/tenants/input.ts";
import { withContext, withTenant } from "../../context/context.ts";
import { limitArg, sinceArg, userFilterArg } from "../../context/list-args.ts";
import { defineAct, defineList } from "../../context/store-command.ts";
import { choiceArg, durationArg, requiredNamespaceArg, valueArg, wordArg } from "../../framework/args.ts";
import { defineCommand } from "../../framework/command.ts";
import { parsePair } from "../../framework/parse-values.ts";
import { type Console, formatValue, info, printRecord, warn } from "../../terminal/console.ts";
import { confirmAction } from "../../terminal/prompt.ts";
import { findUser } from "../user/user.ts";

const service = () => import("../../../server/modules/notifications/messages/messages.ts");
const registrations = () => import("../../../server/modules/notifications/registrations/registrations.ts");

async function printMessage(console: Console, { id, ...rest }: { id: string | null }): Promise<void> {
  if (!console.quiet || id !== null) await printRecord(console, { message_id: id, ...rest });
}

function formatCounts(counts: Readonly<Record<string, number>>): string {
  const parts = Object.entries(counts).filter(([, count]) => count > 0);
  return parts.map(([name, count]) => `${count} ${name}`).join(", ") || "none";
}

export const listCommand = defineList({
  description: "List the notifications of a store, newest first",
  args: {
    topic: valueArg("topic", "Filter by topic"),
    user: userFilterArg,
    since: sinceArg,
    limit: limitArg("50", 1000),
  },
  examples: ["bodega notify list -n demo --topic sale --since 7d"],
  notes: ["Notifications are kept for 30 days. Automatic notifications about orders are not listed."],
  async rows(ctx, { topic, user, since, limit }) {
    const filter = { topic, userId: await findUser(ctx, user), since };
    const messages = await (await service()).listMessageRecords(ctx, limit, filter);
    return messages.map(({ id, ...rest }) => ({ message_id: id, ...rest }));
  },
  empty: "No notifications found.",
  columns: [
    "message_id",
    {
      header: "TO",
      value({ topic, user_id, lang }) {
        const whom = topic === null ? (user_id ?? "everyone") : `topic ${topic}`;
        return lang === null ? whom : `${whom}, ${lang}`;
      },
    },
    "title",
    { header: "DEVICES", value: ({ deliveries }) => formatCounts(deliveries) },
    "created_at",
  ],
});

export const showCommand = defineAct({
  description: "Show a notification and its delivery status",
  args: { message_id: wordArg("Id of the notification"), namespace: requiredNamespaceArg },
  examples: ["bodega notify show -n demo msg_01k8z3v5x2f1rt9m6q7wbn4hcd"],
  notes: [
    "Deliveries are counted by status. sent: accepted by the push service. dropped: the device is no longer registered. " +
      "expired: not delivered within --ttl. Notifications are kept for 30 days.",
  ],
  act: async (ctx, args): Promise<{ id: string }> =>
    JSON.parse((await (await service()).getMessage(ctx, args.message_id)).json),
  print: printMessage,
});

export const devicesCommand = defineList({
  description: "List browsers and devices registered for notifications, newest first",
  args: {
    topic: valueArg("topic", "Filter by topic"),
    user: userFilterArg,
    platform: choiceArg(["web", "ios", "android"], "Filter by platform"),
    limit: limitArg("50"),
  },
  examples: ["bodega notify devices -n demo --topic sale"],
  notes: ["Endpoints and tokens are not shown, because they are enough to send notifications."],
  rows: async (ctx, { topic, user, platform, limit }) =>
    (await registrations()).listRegistrations(ctx, { topic, userId: await findUser(ctx, user), platform, limit }),
  empty: "No devices found.",
  columns: [
    ...(["registration_id", "platform", "lang", "topics"] as const),
    { header: "USER", value: (device) => formatValue(device.user_id) },
    { header: "REACHED", value: (device) => formatValue(device.is_proven) },
    "created_at",
  ],
});

export const removeCommand = defineCommand({
  description: "Remove a browser or device, so that it gets no more notifications",
  args: { registration_id: wordArg("Id of the registration"), namespace: requiredNamespaceArg },
  examples: ["bodega notify remove -n demo reg_01k8z3v5x2f1rt9m6q7wbn4hcd"],
  notes: ["The browser or app can register again."],
  done: "Removed device {registration_id}.",
  async run(args, console) {
    const { registration_id: id } = args;
    await confirmAction(console, `Remove device ${id}? It gets no more notifications.`);
    const remove = async (ctx: Ctx) => (await registrations()).removeRegistration(ctx, id);
    await printRecord(console, await withTenant(args, console, remove));
  },
});

export const keyCommand = defineCommand({
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

export const sendCommand = defineCommand({
  description: "Send a notification to browsers and devices",
  args: {
    namespace: requiredNamespaceArg,
    topic: valueArg("topic", "Send to the devices that subscribed to this topic"),
    user: valueArg("id|email", "Send to the devices of this user", { completes: "user", field: "customer_id" }),
    everyone: { type: "boolean", description: "Send to every device of the store" },
    title: valueArg("text", "Title, up to 200 characters", { required: true }),
    body: valueArg("text", "Text, up to 1000 characters", { required: true }),
    url: valueArg("url", "Link: an https URL, or a path such as /sale"),
    data: valueArg("name=value", "Data for the shop's own code, such as campaign=7", { multiple: true }),
    lang: valueArg("tag", "Send to devices of this language only, such as en or pt-BR"),
    ttl: { ...durationArg("How long delivery is attempted, from 1m to 28d"), default: "1d" },
    "dry-run": { type: "boolean", description: "Check the notification and count the devices, but send nothing" },
  },
  oneOf: ["topic", "user", "everyone"],
  examples: ["bodega notify send -n demo --topic sale --title Sale --body 'Lamps at half price' --url /sale"],
  notes: [
    "The running server sends the notification within a second, and retries until --ttl is over. Without a server, the notification stays queued.",
    "Only browsers get notifications. Registrations for ios and android are counted as not reachable.",
  ],
  done: "Queued the notification.",
  async run(args, console) {
    const { "dry-run": isDryRun, namespace } = args;
    const { topic, everyone, title, body, url } = args;
    const lang = args.lang === undefined ? undefined : parseLanguage("lang", args.lang);
    const ttl = Math.floor(args.ttl / 1000);
    const pairs = args.data.map((text) => parsePair("--data", text, "name=value, such as campaign=7"));
    const data = pairs.length === 0 ? undefined : Object.fromEntries(pairs);
    const fields = { title, body, ttl, topic, everyone: everyone || undefined, url, data, lang };
    const { describeMessage, prepareMessage, sendMessage } = await service();
    const prepared = await withTenant(args, console, async (ctx) =>
      prepareMessage(ctx, { ...fields, customer_id: await findUser(ctx, args.user) }),
    );
    const count = Object.values(prepared.counts).reduce((sum, one) => sum + one, 0);
    const question = `Send the notification to ${countOf(count, "device")} of store ${namespace}?`;
    if (everyone && !isDryRun) await confirmAction(console, question);
    const message = await withTenant(args, console, async (ctx) =>
      isDryRun ? describeMessage(ctx, prepared) : sendMessage(ctx, prepared),
    );
    await printMessage(console, message);
    for (const { platform, message: reason } of console.json ? [] : message.undeliverable) {
      const devices = `${message.recipients[platform]} ${platform} devices`;
      await warn(console, `${devices} cannot be reached. ${reason}.`);
    }
    if (count === 0) await info(console, "No device matches.");
    if (!isDryRun) await info(console, `Check the delivery: bodega notify show -n ${namespace} ${message.id}`);
  },
});
