import { defineCommand } from "../../framework/command.ts";
import { appIdArg, expectedNamespaceArg, withKey } from "../key/args.ts";
import { originsArg, printOrigins } from "./print.ts";

export default defineCommand({
  name: "remove",
  description: "Remove origins from a key's allowlist",
  args: { app_id: appIdArg, origin: originsArg, namespace: expectedNamespaceArg },
  examples: ["bodega origin remove app_01k8z3v5x2f1rt9m6q7wbn4hcd shop.example.com '*.example.org'"],
  notes: ["An empty list is still enforced. To allow every origin: bodega origin set <app_id> --any"],
  async run(args, console) {
    const { removeOrigins } = await import("../../../server/modules/app-keys/origins.ts");
    const { origin: origins } = args;
    await printOrigins(console, await withKey(args, console, (ctx, appId) => removeOrigins(ctx, { appId, origins })));
  },
});
