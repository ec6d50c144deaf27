import { defineCommand } from "../../framework/command.ts";
import { requiredNamespaceArg } from "../../framework/list-args.ts";
import { secretFileArg } from "../key/args.ts";
import { deliverSigningSecret } from "./args.ts";

export default defineCommand({
  name: "add",
  description: "Add a webhook that receives a store's events",
  args: {
    namespace: requiredNamespaceArg,
    url: { type: "string", valueHint: "url", required: true, description: "URL that events are posted to (https)" },
    types: {
      type: "string",
      valueHint: "pattern",
      multiple: true,
      description: "Event type, such as order.paid or order.* (default: all)",
    },
    "allow-private": { type: "boolean", description: "Allow private addresses, this machine's own, and http" },
    "secret-file": secretFileArg,
  },
  examples: [
    "bodega webhook add -n demo --url https://example.com/hooks",
    "bodega webhook add -n demo --url https://example.com/hooks --types 'order.*' --types stock.changed --json",
    "bodega webhook add -n demo --url http://127.0.0.1:9000/hooks --allow-private --secret-file hook.secret",
  ],
  notes: [
    "The webhook receives events from now on, signed according to Standard Webhooks. The signing secret is shown once.",
    "A delivery succeeds with a 2xx reply within ten seconds. Otherwise it is retried, twelve attempts in about a day.",
  ],
  async run(args, console) {
    const { addWebhook } = await import("../../../server/modules/webhooks/service.ts");
    const { url, types, "allow-private": allowPrivate } = args;
    await deliverSigningSecret(args, console, (ctx) => addWebhook(ctx, { url, types, allowPrivate }));
  },
});
