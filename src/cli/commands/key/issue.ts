import { requireText } from "../../../server/values/text.ts";
import { valueArg } from "../../framework/args.ts";
import { defineCommand } from "../../framework/command.ts";
import { requiredNamespaceArg } from "../../framework/list-args.ts";
import { parseFutureTime } from "../../framework/parse-values.ts";
import { info } from "../../terminal/output.ts";
import { saveSecretArg, scopeArg } from "./args.ts";
import { deliverKey } from "./print.ts";

export default defineCommand({
  description: "Issue an app key for a store",
  args: {
    namespace: requiredNamespaceArg,
    name: {
      ...valueArg("text", "Name of the key, such as web"),
      required: true,
      check: (text) => requireText("name", text, 100),
    },
    scope: scopeArg("Permission, such as products:read (default: all)"),
    publish: { type: "boolean", description: "Publish the key now" },
    expires: {
      ...valueArg("duration|time", "Expiry: 90d (from now), or 2030-01-31T00:00:00Z (default: never)"),
      field: "expires_at",
      parse: parseFutureTime,
    },
    "save-secret-to": saveSecretArg,
  },
  examples: [
    "bodega key issue -n demo --name web --publish",
    "bodega key issue -n demo --name import --scope products:read --scope products:write --expires 90d",
    "bodega key issue -n demo --name backend --save-secret-to backend.secret --json",
  ],
  notes: ["Requests with an unpublished key fail. The secret is shown once and stored only as a hash."],
  done: "Issued key {name}.",
  async run(args, console) {
    const { issueKey, listKeys } = await import("../../../server/modules/app-keys/service.ts");
    const { namespace, name, publish, expires: expiresAt } = args;
    const scopes = args.scope.length > 0 ? args.scope : undefined;
    let hasNamesake = false;
    const key = await deliverKey(args, console, async (ctx) => {
      const alike = await listKeys(ctx, { namespace, name });
      hasNamesake = alike.some((other) => other.name === name && other.revoked_at === null);
      return issueKey(ctx, { namespace, name, scopes, publish, expiresAt });
    });
    if (hasNamesake) await info(console, "Another key has the same name. Use the ids of both keys instead.");
    if (!publish) await info(console, `The key is not published. Publish it: bodega key publish ${key.app_id}`);
  },
});
