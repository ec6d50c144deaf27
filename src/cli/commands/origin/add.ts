import { defineCommand } from "../../framework/command.ts";
import { appIdArg, expectedNamespaceArg, withKey } from "../key/args.ts";
import { originsArg, printOrigins } from "./print.ts";

export default defineCommand({
  name: "add",
  description: "Add origins to a key's allowlist and enforce it",
  args: { app_id: appIdArg, origin: originsArg, namespace: expectedNamespaceArg },
  examples: ["bodega origin add app_01k8z3v5x2f1rt9m6q7wbn4hcd shop.example.com '*.example.org'"],
  notes: ["Origins that are already on the list are skipped."],
  async run(args, console) {
    const { addOrigins } = await import("../../../server/modules/app-keys/origins.ts");
    const { origin: origins } = args;
    await printOrigins(console, await withKey(args, console, (ctx, appId) => addOrigins(ctx, { appId, origins })));
  },
});
