import type { PreparedMessage } from "../../../server/modules/notifications/messages/message.ts";
import { parseLanguage } from "../../../server/modules/tenants/input.ts";
import { requireText } from "../../../server/values/text.ts";
import { withTenant } from "../../context/context.ts";
import { openCliOptions } from "../../context/read-config.ts";
import { type ArgValues, type CommandArgs, durationArg, valueArg } from "../../framework/args.ts";
import { defineCommand } from "../../framework/command.ts";
import { requiredNamespaceArg } from "../../framework/list-args.ts";
import { info } from "../../terminal/output.ts";
import { confirmAction } from "../../terminal/prompt.ts";
import { invalidFlag } from "../../terminal/usage-error.ts";
import { findUser } from "../user/args.ts";
import { printMessage, warnOfUndeliverable } from "./print.ts";

const args = {
  namespace: requiredNamespaceArg,
  topic: valueArg("topic", "Send to the devices that subscribed to this topic"),
  user: { ...valueArg("id|email", "Send to the devices of this user"), completes: "user", field: "customer_id" },
  everyone: { type: "boolean", description: "Send to every device of the store" },
  title: {
    ...valueArg("text", "Title, up to 200 characters"),
    required: true,
    check: (text) => requireText("title", text, 200),
  },
  body: {
    ...valueArg("text", "Text, up to 1000 characters"),
    required: true,
    check: (text) => requireText("body", text, 1000),
  },
  url: valueArg("url", "Link: an https URL, or a path such as /sale"),
  data: { ...valueArg("name=value", "Data for the shop's own code, such as campaign=7"), multiple: true },
  lang: valueArg("tag", "Send to devices of this language only, such as en or pt-BR"),
  ttl: { ...durationArg("How long delivery is attempted, from 1m to 28d"), default: "1d" },
  "dry-run": { type: "boolean", description: "Check the notification and count the devices, but send nothing" },
} as const satisfies CommandArgs;

export default defineCommand({
  description: "Send a notification to browsers and devices",
  args,
  oneOf: {
    question: "Who should get the notification?",
    ways: {
      topic: "the devices that subscribed to a topic",
      user: "the devices of a user",
      everyone: "every device of the store",
    },
  },
  examples: [
    "bodega notify send -n demo --topic sale --title 'Sale' --body 'Lamps at half price until Sunday' --url /sale",
    "bodega notify send -n demo --user ada@example.com --title 'Your lamp' --body 'It can be repaired' --json",
    "bodega notify send -n demo --everyone --title 'New' --body 'The spring catalogue' --lang de --dry-run",
  ],
  notes: [
    "The running server sends it within a second and retries for the duration of --ttl. Without a server it stays queued.",
    "Browsers need no settings. Android needs BODEGA_FCM_CREDENTIALS and iOS BODEGA_APNS_KEY in the server's environment.",
  ],
  done: "Queued the notification.",
  async run(args, console) {
    const { "dry-run": isDryRun, namespace } = args;
    const fields = readMessage(args);
    const { describeMessage, prepareMessage, sendMessage } = await import(
      "../../../server/modules/notifications/messages/message.ts"
    );
    const { readPushConfig } = await import("../../../server/config/config.ts");
    const { pushOptions } = await import("../../../server/config/push-config.ts");
    const message = await withTenant(args, console, async (tenantCtx) => {
      const ctx = { ...tenantCtx, push: pushOptions(readPushConfig(openCliOptions(args, console))) };
      const prepared = await prepareMessage(ctx, { ...fields, customer_id: await findUser(ctx, args.user) });
      if (isDryRun) return describeMessage(ctx, prepared);
      const count = sumOf(prepared.counts);
      const devices = count === 1 ? "1 device" : `${count} devices`;
      if (args.everyone) await confirmAction(console, `Send the notification to ${devices} of store ${namespace}?`);
      return sendMessage(ctx, prepared);
    });
    await printMessage(console, message);
    await warnOfUndeliverable(console, message);
    if (sumOf(message.recipients) === 0) await info(console, "No device matches.");
    if (!isDryRun) await info(console, `Check the delivery: bodega notify show -n ${namespace} ${message.id}`);
  },
});

function readMessage({ topic, everyone, title, body, url, lang, ...given }: ArgValues<typeof args>) {
  return {
    title,
    body,
    ttl: Math.floor(given.ttl / 1000),
    topic,
    everyone: everyone || undefined,
    url,
    data: readData(given.data),
    lang: lang === undefined ? undefined : parseLanguage("lang", lang),
  };
}

function readData(pairs: readonly string[]): Record<string, string> | undefined {
  if (pairs.length === 0) return undefined;
  const data = new Map<string, string>();
  for (const pair of pairs) {
    const at = pair.indexOf("=");
    if (at < 1) throw invalidFlag("--data", "must be name=value, such as campaign=7");
    const name = pair.slice(0, at);
    if (data.has(name)) throw invalidFlag("--data", `has the name ${name} twice`);
    data.set(name, pair.slice(at + 1));
  }
  return Object.fromEntries(data);
}

function sumOf(counts: PreparedMessage["counts"]): number {
  return Object.values(counts).reduce((sum, one) => sum + one, 0);
}
