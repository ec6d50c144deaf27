import { keyState, keyStates } from "../../../server/modules/app-keys/model.ts";
import { parseScopes } from "../../../server/security/scopes.ts";
import { withContext } from "../../context/context.ts";
import { defineList } from "../../context/store-command.ts";
import { choiceArg, valueArg } from "../../framework/args.ts";
import { defineCommand } from "../../framework/command.ts";
import { parseDuration, parseFutureTime } from "../../framework/parse-values.ts";
import { formatRelativeTime, formatValue, info, printList } from "../../terminal/console.ts";
import { confirmAction } from "../../terminal/prompt.ts";
import {
  aboutKey,
  confirmInUse,
  confirmPages,
  deliverKey,
  describeKey,
  loadKey,
  printKey,
  saveSecretArg,
  scopeArg,
  withKey,
} from "./key.ts";

const service = () => import("../../../server/modules/app-keys/service.ts");
const keyArgs = aboutKey({});

export const listCommand = defineList({
  description: "List the app keys of a store, oldest first",
  args: { state: choiceArg(keyStates, "Filter by state") },
  examples: ["bodega key list -n demo --state published"],
  rows: async (ctx, args) => (await service()).listKeys(ctx, args),
  empty: "No app keys found. Issue one: bodega key issue -n {namespace} --name <text>",
  columns: [
    "app_id",
    "name",
    { header: "STATE", value: (key) => keyState(key, Date.now()) },
    "scopes",
    { header: "ORIGINS", value: (key) => (key.enforce_origins ? formatValue(key.origins) : "any") },
    { header: "LAST USED", value: (key) => key.last_used_at ?? "never" },
    { header: "EXPIRES", value: (key) => key.expires_at ?? "never" },
  ],
});

export const showCommand = defineCommand({
  description: "Show an app key and the use of its secrets",
  args: keyArgs,
  examples: ["bodega key show -n demo web"],
  notes: ["Secrets are stored only as hashes and cannot be shown. Their last use is recorded to the minute."],
  async run(args, console) {
    const key = await loadKey(args, console);
    await printKey(console, key);
    if (console.quiet || console.json || key.secrets.length === 0) return;
    await console.write("\n");
    await printList(console, key.secrets, {
      empty: "No secrets.",
      columns: [
        { header: "SECRET", value: (secret) => (secret === key.secrets[0] ? "current" : "old") },
        "created_at",
        "last_used_at",
        { header: "VALID UNTIL", value: ({ expires_at }) => expires_at ?? "the key is rotated" },
      ],
    });
  },
});

export const updateCommand = defineCommand({
  description: "Update the name, permissions or expiry of an app key",
  args: aboutKey({
    name: valueArg("text", "Name of the key"),
    scope: scopeArg("Permission, such as products:read, or * for all; the given ones replace all current ones"),
    expires: valueArg("duration|time|never", "Expiry: 90d (from now), 2030-01-31T00:00:00Z, or never", {
      field: "expires_at",
      parse: (flag, text) => (text === "never" ? null : parseFutureTime(flag, text)),
    }),
  }),
  examples: ["bodega key update -n demo web --scope products:read --scope products:write --expires 90d"],
  notes: ["Fields without a flag keep their value."],
  done: "Updated key {name}.",
  anyOf: ["name", "scope", "expires"],
  async run(args, console) {
    const { scope } = args;
    const { updateKey } = await service();
    const { name, origins } = await loadKey(args, console);
    const scopes = scope.length > 0 ? scope : undefined;
    const patch = { name: args.name, scopes, expiresAt: args.expires };
    if (scopes) await confirmPages(console, { name, scopes: parseScopes(scopes) }, origins);
    await printKey(console, await withKey(args, console, (ctx, appId) => updateKey(ctx, appId, patch)));
  },
});

function defineStateCommand(name: "publish" | "unpublish" | "activate" | "deactivate", description: string) {
  return defineCommand({
    description,
    args: keyArgs,
    examples: [`bodega key ${name} -n demo web`],
    done: `${name.charAt(0).toUpperCase()}${name.slice(1).replace(/e?$/, "ed")} key {name}.`,
    async run(args, console) {
      const { [`${name}Key` as const]: change } = await service();
      if (name === "unpublish" || name === "deactivate") {
        const key = await loadKey(args, console);
        await confirmInUse(console, key, `Stop accepting key ${describeKey(key)}? All requests with it will fail.`);
      }
      await printKey(console, await withKey(args, console, change));
    },
  });
}

export const publishCommand = defineStateCommand("publish", "Publish an app key, so that it can be used");
export const unpublishCommand = defineStateCommand("unpublish", "Stop accepting an app key");
export const activateCommand = defineStateCommand("activate", "Reactivate an app key");
export const deactivateCommand = defineStateCommand(
  "deactivate",
  "Deactivate an app key, so that requests with it fail",
);

export const rotateCommand = defineCommand({
  description: "Replace the secret of an app key",
  args: aboutKey({
    overlap: valueArg("duration", "How long old secrets stay valid, such as 24h", { default: "0" }),
    "save-secret-to": saveSecretArg,
  }),
  examples: ["bodega key rotate -n demo backend --overlap 24h --save-secret-to backend.secret"],
  notes: ["After a leak, use no --overlap: the old secrets then expire immediately, and requests with them fail."],
  done: "Replaced the secret of key {name}.",
  async run(args, console) {
    const overlapMs = parseDuration("--overlap", args.overlap);
    const { requireOverlap, rotateKey } = await service();
    requireOverlap(overlapMs);
    const key = await loadKey(args, console);
    const question = `Expire the current secret of key ${describeKey(key)} immediately? With --overlap 24h it stays valid for a day.`;
    if (overlapMs === 0) await confirmAction(console, question);
    await deliverKey(args, console, (ctx) => rotateKey(ctx, { appId: key.app_id, overlapMs }));
    const later = `The old secrets expire in ${args.overlap}. To expire them now: bodega key retire ${key.app_id}`;
    await info(console, overlapMs === 0 ? "The old secrets have expired." : later);
  },
});

export const retireCommand = defineCommand({
  description: "Expire the old secrets of a rotated app key now",
  args: keyArgs,
  examples: ["bodega key retire -n demo web"],
  notes: ["The current secret stays valid."],
  done: "Expired the old secrets of key {name}.",
  async run(args, console) {
    const { retireSecrets } = await service();
    const key = await loadKey(args, console);
    const [, ...old] = key.secrets;
    const last = old.flatMap(({ last_used_at }) => last_used_at ?? []).toSorted();
    const used = formatRelativeTime(last.at(-1) ?? null, Date.now());
    const question = `Expire the old secrets of key ${describeKey(key)}? Last used: ${used}.`;
    if (old.length > 0) await confirmAction(console, question);
    const after = await withContext(args, console, (ctx) => retireSecrets(ctx, key.app_id));
    const done = after.retired === 0 ? "The key has no old secret. Nothing was changed." : console.done;
    await printKey({ ...console, done }, after);
  },
});

export const revokeCommand = defineCommand({
  description: "Revoke an app key permanently",
  args: keyArgs,
  examples: ["bodega key revoke -n demo web"],
  notes: ["This cannot be undone."],
  done: "Revoked key {name}.",
  async run(args, console) {
    const { revokeKey } = await service();
    const key = await loadKey(args, console);
    await confirmAction(console, `Revoke key ${describeKey(key)} permanently? All requests with it will fail.`);
    await printKey(console, await withContext(args, console, (ctx) => revokeKey(ctx, key.app_id)));
  },
});
