import { defineCommand } from "../../framework/command.ts";
import { info, printJson, printList } from "../../terminal/output.ts";
import { formatTime } from "../../terminal/relative-time.ts";
import { appIdArg, expectedNamespaceArg, withKey } from "../key/app-key.ts";
import { formatOrigin } from "./print.ts";

export default defineCommand({
  name: "list",
  description: "List the origins that a key may be used from, or that were refused",
  args: {
    app_id: appIdArg,
    rejected: { type: "boolean", description: "List what the server has refused to the key in the last thirty days" },
    namespace: expectedNamespaceArg,
  },
  examples: ["bodega origin list app_01k8z3v5x2f1rt9m6q7wbn4hcd --json", "bodega origin list -n demo web --rejected"],
  notes: [
    "As JSON it is the plain list; bodega key show says whether it is enforced.",
    "With --rejected: origins of calls that had the right secret, the newest fifty; as JSON one without an origin has an empty one.",
  ],
  async run(args, console) {
    if (args.rejected) {
      const { listRejections } = await import("../../../server/modules/app-keys/rejections.ts");
      const now = Date.now();
      const rejected = await withKey(args, console, listRejections);
      return printList(console, rejected, {
        id: (refused) => formatOrigin(refused),
        empty: "No origin was refused in the last thirty days.",
        columns: [
          { header: "ORIGIN", value: (refused) => formatOrigin(refused), whole: true },
          { header: "TIMES", value: ({ attempts }) => String(attempts), whole: true },
          { header: "LAST", value: ({ last_at }) => formatTime(last_at, now) },
          { header: "FIRST", value: ({ first_at }) => formatTime(first_at, now) },
        ],
      });
    }
    const { listOrigins } = await import("../../../server/modules/app-keys/origins.ts");
    const key = await withKey(args, console, listOrigins);
    if (console.json) return printJson(console, key.origins);
    await printList(console, key.origins, {
      id: (origin) => origin,
      empty: "The list is empty.",
      columns: [{ header: "ORIGIN", value: (origin) => origin, whole: true }],
    });
    if (!key.enforce_origins) return info(console, "The list is not enforced: the key may be used from anywhere.");
    await info(console, `Requests without an Origin are ${key.allow_no_origin ? "allowed" : "refused"}.`);
  },
});
