import { accessSync, constants, existsSync } from "node:fs";
import { basename, dirname, resolve } from "node:path";
import { parseOriginPattern } from "../../../server/modules/app-keys/origin-pattern.ts";
import { slugFrom } from "../../../server/modules/products/slug.ts";
import { requireText } from "../../../server/values/text.ts";
import type { Console } from "../../terminal/console.ts";
import { info } from "../../terminal/output.ts";
import type { Answers } from "./answers.ts";
import type { InitArgs } from "./flags.ts";
import { askChoice, askText, askYesNo, beginPart } from "./questions.ts";

const usualName = "web";

/** The first key, from the flags and by asking. Without a terminal it is unpublished unless the flags say otherwise. */
export async function takeKey(args: InitArgs, console: Console): Promise<NonNullable<Answers["key"]>> {
  const { "key-name": name, publish } = args;
  if (!console.canAsk) return { name: name ?? usualName, publish: publish ?? false, origins: args.origin };
  await beginPart(console, "A key is what a program needs to use the store: a website, an app, an importer.");
  return {
    name: name ?? (await askText("What is the first key for?", { suggestion: usualName, check: checkKeyName })),
    publish: publish ?? (await askYesNo("Publish it at once? (else calls with it fail)", true)),
    origins: args.origin.length > 0 || !args.origins ? args.origin : await askOrigins(console),
  };
}

/** Where the secret of a new key goes: a file of its own is suggested, since a screen is read by others and forgets. */
export async function askSecretFile(namespace: string, name: string): Promise<string | undefined> {
  const path = freePath(`${namespace}-${slugFrom(name) || "key"}`);
  if (!isWritable(dirname(path))) return undefined;
  return askChoice<string | undefined>("Where does the key's secret go?", [
    { value: path, name: `into the new file ${basename(path)}` },
    { value: undefined, name: "on the screen, this once" },
  ]);
}

function freePath(base: string): string {
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

/** The rule for a key's name. */
export function checkKeyName(name: string): string {
  return requireText("key_name", name, 100);
}

async function askOrigins(console: Console): Promise<string[]> {
  await info(console, "  Browsers may use it from sites that you name, such as shop.example.com or *.example.com.");
  const message = "Sites that may use it (empty: programs only)";
  return splitOrigins(
    await askText(message, { optional: true, check: (text) => splitOrigins(text).map(parseOriginPattern) }),
  );
}

function splitOrigins(text: string): string[] {
  return text.split(/[\s,]+/).filter((entry) => entry !== "");
}
