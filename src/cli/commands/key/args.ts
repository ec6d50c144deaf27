import type { SystemCtx } from "../../../server/context.ts";
import { parseOriginPattern } from "../../../server/modules/app-keys/origin-pattern.ts";
import { withContext } from "../../context/context.ts";
import {
  type FlagArg,
  fileArg,
  namespaceArg,
  type PositionalArg,
  type SharedValues,
  valueArg,
} from "../../framework/args.ts";
import type { Console } from "../../terminal/console.ts";
import { askText } from "../../terminal/prompt.ts";

export const appIdArg = {
  type: "positional",
  required: true,
  completes: "key",
  description: "Id of the key, or its name with -n",
  check: (text, values, console) => withKey({ ...values, app_id: text } as KeyArgs, console, async () => {}),
} as const satisfies PositionalArg;

export const expectedNamespaceArg = {
  ...namespaceArg,
  description: "Store of the key; required if the key is given by name and there are several stores",
} as const satisfies FlagArg;

export const saveSecretArg = fileArg("Write the secret to this new file (mode 0600) and do not print it");

export function scopeArg(description: string) {
  return { ...valueArg("scope", description), multiple: true, field: "scopes", completes: "scope" } as const;
}

type KeyArgs = SharedValues & { app_id: string; namespace: string | undefined };

/** Runs work on the key with this id, or with this name in the store of `-n`. Errors: notFound, conflict. */
export function withKey<T>(args: KeyArgs, console: Console, work: (ctx: SystemCtx, appId: string) => Promise<T>) {
  return withContext(args, console, async (ctx) => {
    const { resolveKeyId } = await import("../../../server/modules/app-keys/resolve.ts");
    return work(ctx, await resolveKeyId(ctx, args.app_id, args.namespace));
  });
}

export async function askOrigins(message: string, optional = false, suggestion?: string): Promise<string[]> {
  const split = (text: string) => text.split(/[\s,]+/).filter((entry) => entry !== "");
  return split(await askText(message, { optional, suggestion, check: (text) => split(text).map(parseOriginPattern) }));
}
