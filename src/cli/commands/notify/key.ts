import { withContext } from "../../context/context.ts";
import { defineCommand } from "../../framework/command.ts";
import { printRecord } from "../../terminal/output.ts";

export default defineCommand({
  name: "key",
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
