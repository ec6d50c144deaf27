import { keyState, keyStates } from "../../../server/modules/app-keys/key-state.ts";
import { withContext } from "../../context/context.ts";
import { defineCommand } from "../../framework/command.ts";
import { requiredNamespaceArg } from "../../framework/list-args.ts";
import { parseDuration } from "../../framework/parse-values.ts";
import { formatValue, printList } from "../../terminal/output.ts";
import { formatRelativeTime } from "../../terminal/relative-time.ts";
import { warnOfKeys } from "./print.ts";

export default defineCommand({
  name: "list",
  description: "List the app keys of a store, oldest first",
  args: {
    namespace: requiredNamespaceArg,
    state: { type: "enum", options: keyStates, description: "Filter by state" },
    name: { type: "string", valueHint: "text", description: "Filter by text in the name" },
    scope: { type: "string", valueHint: "scope", completes: "scope", description: "Filter by permission" },
    expiring: { type: "string", valueHint: "duration", description: "Filter by expiry within a duration, such as 30d" },
  },
  examples: [
    "bodega key list -n demo",
    "bodega key list -n demo --state published --scope orders:write",
    "bodega key list -n demo --expiring 30d -q",
    "bodega key list -n demo --json",
  ],
  notes: [
    "Warns of keys that have expired or expire within 30 days, and of old secrets that expire within a day but are still used.",
  ],
  async run(args, console) {
    const { namespace, state, name, scope, expiring } = args;
    const expiringMs = expiring === undefined ? undefined : parseDuration("--expiring", expiring);
    const { listKeys } = await import("../../../server/modules/app-keys/service.ts");
    const filter = { namespace, state, name, scope, expiringMs };
    const keys = await withContext(args, console, (ctx) => listKeys(ctx, filter));
    const isFiltered = [state, name, scope, expiring].some((given) => given !== undefined);
    const now = Date.now();
    await printList(console, keys, {
      id: (key) => key.app_id,
      empty: isFiltered
        ? "No app keys found."
        : `No app keys found. Issue one: bodega key issue -n ${namespace} --name <text>`,
      columns: [
        { header: "APP ID", value: (key) => key.app_id, whole: true },
        { header: "NAME", value: (key) => key.name },
        { header: "STATE", value: (key) => keyState(key, now), state: true },
        { header: "SCOPES", value: (key) => formatValue(key.scopes) },
        { header: "ORIGINS", value: (key) => (key.enforce_origins ? formatValue(key.origins) : "any") },
        { header: "LAST USED", value: (key) => formatRelativeTime(key.last_used_at, now) },
        { header: "EXPIRES", value: (key) => formatRelativeTime(key.expires_at, now) },
      ],
    });
    await warnOfKeys(console, keys, now);
  },
});
