import { appIdArg, expectedNamespaceArg, printKey, withKey } from "../../app-key.ts";
import { defineVerb } from "../../verb.ts";

export default defineVerb({
  name: "show",
  description: "Show one app key, without its secret",
  args: { app_id: appIdArg, namespace: expectedNamespaceArg },
  examples: ["bodega key show app_01k8z3v5x2f1rt9m6q7wbn4hcd", "bodega key show app_01k8z3v5x2f1rt9m6q7wbn4hcd --json"],
  async run(args, io) {
    const { getKey } = await import("../../../server/modules/app-keys/service.ts");
    await printKey(io, await withKey(args, io, getKey));
  },
});
