import { namespaceArg } from "../../framework/args.ts";
import { defineCommand } from "../../framework/command.ts";
import { secretFileArg } from "../key/app-key.ts";
import { deliverSigningSecret } from "./args.ts";

export default defineCommand({
  name: "add",
  description: "Have an address told of a store's events",
  args: {
    namespace: { ...namespaceArg, required: true },
    url: { type: "string", valueHint: "url", required: true, description: "Where events are posted to, by https" },
    types: {
      type: "string",
      valueHint: "pattern",
      multiple: true,
      description: "Which events, such as order.paid or order.* (default: all)",
    },
    "allow-private": { type: "boolean", description: "Permit private addresses, this machine's own, and http" },
    "secret-file": secretFileArg,
  },
  examples: [
    "bodega webhook add -n demo --url https://example.com/hooks",
    "bodega webhook add -n demo --url https://example.com/hooks --types 'order.*' --types stock.changed --json",
    "bodega webhook add -n demo --url http://127.0.0.1:9000/hooks --allow-private --secret-file hook.secret",
  ],
  notes: [
    "It is told of what happens from now on. Each message is signed as the Standard Webhooks have it; the signing secret " +
      "is shown once.",
    "An answer of 2xx within ten seconds is success. Otherwise a message is tried twelve times over about a day.",
  ],
  async run(args, console) {
    const { addWebhook } = await import("../../../server/modules/webhooks/service.ts");
    const { url, types, "allow-private": allowPrivate } = args;
    await deliverSigningSecret(args, console, (ctx) => addWebhook(ctx, { url, types, allowPrivate }));
  },
});
