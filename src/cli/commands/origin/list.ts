import { appIdArg, expectedNamespaceArg, withKey } from "../../app-key.ts";
import { printJson, printList, remark } from "../../output.ts";
import { defineVerb } from "../../verb.ts";

export default defineVerb({
  name: "list",
  description: "List the origins that a key may be used from",
  args: { app_id: appIdArg, namespace: expectedNamespaceArg },
  examples: ["bodega origin list app_01k8z3v5x2f1rt9m6q7wbn4hcd --json"],
  notes: ["As JSON it is the plain list; bodega key show says whether it is enforced."],
  async run(args, io) {
    const { listOrigins } = await import("../../../server/modules/app-keys/origins.ts");
    const key = await withKey(args, io, listOrigins);
    if (io.json) return printJson(io, key.origins);
    await printList(io, key.origins, {
      id: (origin) => origin,
      empty: "The list is empty.",
      columns: [{ header: "ORIGIN", value: (origin) => origin, whole: true }],
    });
    if (!key.enforce_origins) return remark(io, "The list is not enforced: the key may be used from anywhere.");
    await remark(io, `Requests without an Origin are ${key.allow_no_origin ? "allowed" : "refused"}.`);
  },
});
