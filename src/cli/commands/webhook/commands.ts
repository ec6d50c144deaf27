import type { Ctx } from "../../../server/context.ts";
import { recordArgs, type StoreArgs, withTenant } from "../../context/context.ts";
import { limitArg } from "../../context/list-args.ts";
import { defineAct, defineList } from "../../context/store-command.ts";
import { choiceArg, requiredNamespaceArg, valueArg } from "../../framework/args.ts";
import { defineCommand } from "../../framework/command.ts";
import { deliverSecret } from "../../secrets/secrets.ts";
import { type Console, info, printRecord } from "../../terminal/console.ts";
import { confirmAction } from "../../terminal/prompt.ts";
import { saveSecretArg } from "../key/key.ts";

const service = () => import("../../../server/modules/webhooks/service.ts");
const events = () => import("../../../server/modules/webhooks/deliveries.ts");

const load = async () => (await service()).resolveWebhookId;
const webhook = recordArgs("webhook_id", "webhook", "Id or URL of the webhook", load);

async function deliverSigningSecret(
  args: StoreArgs & { "save-secret-to": string | undefined },
  console: Console,
  make: (ctx: Ctx) => Promise<{ secret: string }>,
): Promise<void> {
  const shown = { secretField: "secret", separator: " " } as const;
  await deliverSecret(console, args["save-secret-to"], shown, () => withTenant(args, console, make));
}

export const addCommand = defineCommand({
  description: "Add a webhook that receives a store's events",
  args: {
    namespace: requiredNamespaceArg,
    url: valueArg("url", "URL that events are posted to (https)", { required: true }),
    types: valueArg("pattern", "Event type, such as order.paid or order.* (default: all)", { multiple: true }),
    "allow-private": { type: "boolean", description: "Allow http, private addresses and addresses of this machine" },
    "save-secret-to": saveSecretArg,
  },
  examples: ["bodega webhook add -n demo --url https://example.com/hooks --types 'order.*' --types stock.changed"],
  notes: [
    "The webhook receives events from now on, signed according to Standard Webhooks. The signing secret is shown once.",
    "A delivery succeeds if the receiver replies with 2xx within ten seconds. Otherwise Bodega retries it: twelve attempts in about a day.",
  ],
  done: "Added webhook {url}.",
  async run(args, console) {
    const { addWebhook } = await service();
    await deliverSigningSecret(args, console, (ctx) =>
      addWebhook(ctx, { ...args, allowPrivate: args["allow-private"] }),
    );
  },
});

export const listCommand = defineList({
  description: "List the webhooks of a store and count their deliveries",
  args: {},
  examples: ["bodega webhook list -n demo"],
  rows: async (ctx) => (await service()).listWebhooks(ctx),
  empty: "No webhooks found.",
  columns: ["webhook_id", "url", "types", "waiting", "delivered", "failed", "last_error"],
});

export const showCommand = defineCommand({
  description: "Show a webhook and count its deliveries",
  args: webhook.args,
  examples: ["bodega webhook show -n demo https://example.com/hooks"],
  notes: ["The signing secret cannot be shown. To replace it: bodega webhook rotate -n <namespace> <webhook_id>"],
  async run(args, console) {
    const shown = await webhook.withRecord(args, console, (await service()).getWebhookDetails);
    await printRecord(console, shown);
    const failed = `bodega webhook deliveries -n ${args.namespace} ${shown.webhook_id} --status failed`;
    if (shown.failed > 0) await info(console, `List the failed deliveries: ${failed}`);
  },
});

export const deliveriesCommand = defineList({
  description: "List the deliveries of a webhook, newest event first",
  args: {
    ...webhook.args,
    status: choiceArg(["waiting", "delivered", "failed"], "Filter by status"),
    limit: limitArg("50", 1000),
  },
  examples: ["bodega webhook deliveries -n demo https://example.com/hooks --status failed"],
  notes: ["Delivered and failed deliveries are kept for 30 days."],
  rows: async (ctx, args) => (await events()).listDeliveries(ctx, await webhook.find(ctx, args.webhook_id), args),
  id: (delivery) => delivery.delivery_id,
  empty: "No deliveries found.",
  columns: ["event_id", "type", "status", "attempts", "next_attempt_at", "last_error"],
});

export const replayCommand = defineAct({
  description: "Deliver events to a webhook again",
  args: {
    ...webhook.args,
    event: valueArg("event_id", "Replay this event"),
    after: valueArg("event_id", "Replay all events after this one"),
    failed: { type: "boolean", description: "Replay all failed deliveries" },
  },
  oneOf: ["failed", "event", "after"],
  examples: ["bodega webhook replay -n demo https://example.com/hooks --failed"],
  notes: ["Events are kept for 30 days. The Webhook-Id header stays the same. The running server delivers the events."],
  done: "Queued {replayed event} again.",
  async act(ctx, { event, after, webhook_id }) {
    const choice = event !== undefined ? { event } : after !== undefined ? { after } : "failed";
    const { replayDeliveries } = await events();
    return { replayed: await replayDeliveries(ctx, await webhook.find(ctx, webhook_id), choice) };
  },
});

export const testCommand = defineCommand({
  description: "Send a signed sample event to a webhook now, and print the answer",
  args: {
    ...webhook.args,
    type: valueArg("type", "Event type, such as order.paid", { required: true }),
  },
  examples: ["bodega webhook test -n demo https://example.com/hooks --type order.paid"],
  notes: [
    "The event is about a record that does not exist. The exit code is 1 if the receiver does not reply with 2xx.",
    "The command sends the event once, even if the webhook does not receive this type.",
  ],
  async run(args, console) {
    const { sendSample } = await import("../../../server/modules/webhooks/sample.ts");
    const result = await webhook.withRecord(args, console, (ctx, id) => sendSample(ctx, id, args.type));
    await printRecord(console, result, "status");
    return result.error === null ? 0 : 1;
  },
});

export const rotateCommand = defineCommand({
  description: "Replace the signing secret of a webhook",
  args: { ...webhook.args, "save-secret-to": saveSecretArg },
  examples: ["bodega webhook rotate -n demo whk_01k8z3v5x2f1rt9m6q7wbn4hcd"],
  notes: ["From now on, deliveries are signed with the new secret. A delivery that the receiver rejects is retried."],
  done: "Replaced the secret of webhook {url}.",
  async run(args, console) {
    const { getWebhook, rotateWebhook } = await service();
    const { webhook_id: id, url } = await webhook.withRecord(args, console, getWebhook);
    await confirmAction(console, `Replace the secret of webhook ${id} to ${url}? The receiver must use the new one.`);
    await deliverSigningSecret(args, console, (ctx) => rotateWebhook(ctx, id));
  },
});

export const removeCommand = defineCommand({
  description: "Remove a webhook and its queued deliveries",
  args: webhook.args,
  examples: ["bodega webhook remove -n demo whk_01k8z3v5x2f1rt9m6q7wbn4hcd"],
  done: "Removed webhook {url}.",
  async run(args, console) {
    const { getWebhook, removeWebhook } = await service();
    const { webhook_id: id, url } = await webhook.withRecord(args, console, getWebhook);
    await confirmAction(console, `Remove webhook ${id} to ${url}? Its queued deliveries are dropped.`);
    await printRecord(console, await withTenant(args, console, (ctx) => removeWebhook(ctx, id)));
  },
});
