import { defineCommand } from "../../framework/command.ts";
import { info, printJson, printList } from "../../terminal/output.ts";
import { appIdArg, expectedNamespaceArg, withKey } from "../key/args.ts";
import { formatOrigin } from "./print.ts";

export default defineCommand({
  name: "list",
  description: "List the origins that may use a key, or that were rejected",
  args: {
    app_id: appIdArg,
    rejected: { type: "boolean", description: "List origins that were rejected in the last 30 days" },
    namespace: expectedNamespaceArg,
  },
  examples: ["bodega origin list app_01k8z3v5x2f1rt9m6q7wbn4hcd --json", "bodega origin list -n demo web --rejected"],
  notes: [
    "`bodega key show` tells whether the list is enforced.",
    "--rejected lists the newest 50 origins of requests with the correct secret. In JSON, an empty origin means a " +
      "request without an Origin header.",
  ],
  async run(args, console) {
    if (args.rejected) {
      const { listRejections } = await import("../../../server/modules/app-keys/rejections.ts");
      const rejected = await withKey(args, console, listRejections);
      return printList(console, rejected, {
        id: (refused) => formatOrigin(refused),
        empty: "No rejected origins found.",
        columns: [
          { header: "ORIGIN", value: (refused) => formatOrigin(refused), whole: true },
          { header: "REQUESTS", value: ({ attempts }) => String(attempts), whole: true },
          { header: "LAST", value: ({ last_at }) => last_at },
          { header: "FIRST", value: ({ first_at }) => first_at },
        ],
      });
    }
    const { listOrigins } = await import("../../../server/modules/app-keys/origins.ts");
    const key = await withKey(args, console, listOrigins);
    if (console.json) return printJson(console, key.origins);
    await printList(console, key.origins, {
      id: (origin) => origin,
      empty: "No origins found.",
      columns: [{ header: "ORIGIN", value: (origin) => origin, whole: true }],
    });
    if (!key.enforce_origins) return info(console, "The list is not enforced: every origin may use the key.");
    await info(console, `Requests without an Origin header are ${key.allow_no_origin ? "allowed" : "rejected"}.`);
  },
});
