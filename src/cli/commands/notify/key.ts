import { withContext } from "../../context/context.ts";
import { defineCommand } from "../../framework/command.ts";
import { printRecord } from "../../terminal/output.ts";

export default defineCommand({
  name: "key",
  description: "Show the public key that browsers subscribe with (VAPID)",
  args: {},
  examples: ["bodega notify key -q", "bodega notify key --json"],
  notes: [
    "It is applicationServerKey of pushManager.subscribe(), one for all stores, and no secret. Shops also find it in " +
      "GET /notifications/register/.",
  ],
  async run(args, console) {
    const { ensureVapidKeys } = await import("../../../server/modules/notifications/providers/vapid.ts");
    const { publicKey } = await withContext(args, console, ensureVapidKeys);
    await printRecord(console, { vapid_public_key: publicKey }, "vapid_public_key");
  },
});
