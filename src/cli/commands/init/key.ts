import { accessSync, constants, existsSync } from "node:fs";
import { basename, resolve } from "node:path";
import { parseOriginPattern } from "../../../server/modules/app-keys/origin-pattern.ts";
import { slugFrom } from "../../../server/modules/products/slug.ts";
import { requireText } from "../../../server/values/text.ts";
import type { ArgValues, CommandArgs } from "../../framework/args.ts";
import type { Console } from "../../terminal/console.ts";
import { askChoice, askText, askYesNo, introduce } from "./questions.ts";

export const keyFlags = {
  "key-name": {
    type: "string",
    valueHint: "text",
    field: "key_name",
    description: "Name of the first app key (default: web)",
  },
  publish: { type: "boolean", negatable: true, description: "Publish the key now, or leave it unpublished" },
  origin: {
    type: "string",
    valueHint: "host",
    multiple: true,
    field: "origins",
    description: "Site whose pages may use the key, such as shop.example.com or *.example.com",
  },
  origins: { type: "boolean", default: true, description: "Allow no site to use the key from a browser" },
  "secret-file": {
    type: "string",
    valueHint: "path",
    completes: "file",
    description: "Write the key's secret to this new file (mode 0600) and do not print it",
  },
} as const satisfies CommandArgs;

type KeyArgs = ArgValues<typeof keyFlags>;

export interface KeyAnswer {
  name: string;
  publish: boolean;
  origins: string[];
}

const defaultName = "web";

/** Errors: validationFailed naming the field. */
export function checkKeyFlags({ "key-name": name, origin }: KeyArgs): void {
  if (name !== undefined) checkKeyName(name);
  for (const pattern of origin) parseOriginPattern(pattern);
}

/** The first app key. Where nobody can be asked, it stays unpublished unless --publish is given. */
export async function takeKey(args: KeyArgs, console: Console): Promise<KeyAnswer> {
  const { "key-name": name, publish } = args;
  if (!console.canAsk) return { name: name ?? defaultName, publish: publish ?? false, origins: args.origin };
  await introduce(console, "A website, an app or an importer needs an app key to use the store.");
  return {
    name: name ?? (await askText("Name of the first app key", { suggestion: defaultName, check: checkKeyName })),
    publish: publish ?? (await askYesNo("Publish the key now? Requests with an unpublished key fail.", true)),
    origins: args.origin.length > 0 || !args.origins ? args.origin : await askOrigins(),
  };
}

/** The file for the key's secret; undefined for the screen. */
export async function takeSecretFile(
  args: KeyArgs,
  console: Console,
  { namespace, keyName }: { namespace: string; keyName: string },
): Promise<string | undefined> {
  if (args["secret-file"] !== undefined || !console.canAsk || !isWritable(".")) return args["secret-file"];
  const path = findFreePath(`${namespace}-${slugFrom(keyName) || "key"}`);
  return askChoice<string | undefined>("Where should the key's secret go?", [
    { value: path, name: `to the new file ${basename(path)}` },
    { value: undefined, name: "to the screen, once" },
  ]);
}

function findFreePath(base: string): string {
  for (let count = 1; ; count++) {
    const path = resolve(`${base}${count === 1 ? "" : `-${count}`}.secret`);
    if (!existsSync(path)) return path;
  }
}

function isWritable(dir: string): boolean {
  try {
    accessSync(dir, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

function checkKeyName(name: string): string {
  return requireText("key_name", name, 100);
}

async function askOrigins(): Promise<string[]> {
  const check = (text: string) => splitOrigins(text).map(parseOriginPattern);
  const message = "Sites whose pages may use the key, such as shop.example.com or *.example.com (optional)";
  return splitOrigins(await askText(message, { optional: true, check }));
}

function splitOrigins(text: string): string[] {
  return text.split(/[\s,]+/).filter((entry) => entry !== "");
}
