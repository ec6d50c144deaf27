import { parseOriginPattern } from "../../../server/modules/app-keys/origin-pattern.ts";
import { wordArg } from "../../framework/args.ts";
import { defineCommand } from "../../framework/command.ts";
import { completeCommand } from "../../terminal/command-line.ts";
import { type Console, fitSentence, info, printJson, printList } from "../../terminal/console.ts";
import { aboutKey, confirmInUse, confirmPages, describeKey, loadKey, printKey, withKey } from "../key/key.ts";

const service = () => import("../../../server/modules/app-keys/origins.ts");

const originsArg = wordArg("Host such as shop.example.com or *.example.com; scheme and port are optional", {
  multiple: true,
  field: "origins",
  parse: (_flag: string, text: string) => parseOriginPattern(text).text,
});

/** Asks before a key of a backend gets websites, and before a key that is already in use is opened to any website. */
async function confirmOrigins(
  args: Parameters<typeof withKey>[0] & { origin: string[]; any?: boolean },
  console: Console,
) {
  const key = await loadKey(args, console);
  const added = args.origin.filter((pattern) => !key.origins.includes(pattern));
  await confirmPages(console, key, args.any ? ["any website"] : added);
  if (!args.any) return;
  await confirmInUse(console, key, `Let every website use key ${describeKey(key)}? This empties its list of origins.`);
}

function defineChange(name: "add" | "remove", description: string, note: string) {
  return defineCommand({
    description,
    args: aboutKey({ origin: originsArg }),
    examples: [`bodega origin ${name} -n demo web shop.example.com '*.example.org'`],
    notes: [note],
    done: name === "add" ? "Added origins to key {name}." : "Removed origins from key {name}.",
    async run(args, console) {
      const { [`${name}Origins` as const]: change } = await service();
      if (name === "add") await confirmOrigins(args, console);
      else {
        const key = await loadKey(args, console);
        const question = `Stop ${args.origin.join(", ")} from using key ${describeKey(key)}? Requests from these pages will fail.`;
        await confirmInUse(console, key, question);
      }
      const origins = args.origin;
      await printKey(console, await withKey(args, console, (ctx, appId) => change(ctx, { appId, origins })));
    },
  });
}

export const addCommand = defineChange(
  "add",
  "Add origins to a key's allowlist and enforce it",
  "Origins that are already on the list are skipped.",
);

export const removeCommand = defineChange(
  "remove",
  "Remove origins from a key's allowlist",
  "An empty list is still enforced. To allow every origin: bodega origin set <app_id> --any",
);

export const listCommand = defineCommand({
  description: "List the origins that may use a key",
  args: aboutKey({}),
  examples: ["bodega origin list -n demo web"],
  async run(args, console) {
    const key = await loadKey(args, console);
    if (console.json) return printJson(console, key.origins);
    await printList(console, key.origins, {
      empty: "No origins found.",
      columns: [{ header: "ORIGIN", value: (origin) => origin }],
    });
    if (!key.enforce_origins) return info(console, "The list is not enforced: every origin may use the key.");
    await info(console, `Requests without an Origin header are ${key.allow_no_origin ? "allowed" : "rejected"}.`);
  },
});

export const setCommand = defineCommand({
  description: "Replace a key's origin allowlist and enforce it",
  args: aboutKey({
    origin: { ...originsArg, required: false },
    "allow-no-origin": { type: "boolean", description: "Allow requests without an Origin header, for servers" },
    any: { type: "boolean", description: "Allow every origin: empty the list and stop enforcing it" },
  }),
  anyOf: ["origin", "allow-no-origin", "any"],
  exclusive: ["origin", "allow-no-origin"].map((flag) => ["any", flag]),
  examples: ["bodega origin set -n demo web shop.example.com '*.example.org'", "bodega origin set -n demo web --any"],
  notes: [
    "Without --allow-no-origin, requests without an Origin header are rejected. With --allow-no-origin and no origins, no " +
      "browser can use the key.",
  ],
  done: "Replaced the origins of key {name}.",
  async run(args, console) {
    const { any, origin: origins, "allow-no-origin": allowNoOrigin } = args;
    await confirmOrigins(args, console);
    const { setOrigins } = await service();
    const input = { origins, allowNoOrigin, enforce: !any };
    await printKey(console, await withKey(args, console, (ctx, appId) => setOrigins(ctx, { appId, ...input })));
  },
});

export const checkCommand = defineCommand({
  description: "Check whether an origin may use a key",
  args: aboutKey({
    origin: { type: "positional", required: false, description: "The Origin header, such as https://shop.example.com" },
    none: { type: "boolean", description: "Check a request without an Origin header" },
  }),
  oneOf: ["origin", "none"],
  examples: ["bodega origin check -n demo web https://shop.example.com"],
  notes: [
    "The exit code is 0 if the request is allowed, otherwise 1. For a rejected request, the command says what to do. The " +
      "server's log shows the rejected origins.",
  ],
  async run(args, console) {
    const { explainOrigin } = await service();
    const origin = args.origin ?? null;
    const verdict = await withKey(args, console, (ctx, appId) => explainOrigin(ctx, { appId, origin }));
    const { allowed, reason, advice } = verdict;
    const word = allowed ? "allowed" : "rejected";
    const lines = console.quiet ? [word] : [`${word}: ${reason}`, ...(advice === null ? [] : ["", advice])];
    if (console.json) {
      await printJson(console, { ...verdict, advice: advice && completeCommand(advice, console.command) });
    } else await console.write(lines.map((line) => `${fitSentence(console, line)}\n`).join(""));
    return allowed ? 0 : 1;
  },
});
