import type { SystemCtx } from "../../../server/context.ts";
import type { getKey, issueKey, publishKey } from "../../../server/modules/app-keys/service.ts";
import { withContext } from "../../context/context.ts";
import { type FlagArg, namespaceArg, type PositionalArg, type SharedValues } from "../../framework/args.ts";
import { deliverSecret } from "../../secrets/deliver.ts";
import type { Console } from "../../terminal/console.ts";
import { printRecord } from "../../terminal/output.ts";

/** A key as most commands return it, as `show` does, and with its secret. */
export type AppKey = Awaited<ReturnType<typeof publishKey>>;
export type AppKeyDetails = Awaited<ReturnType<typeof getKey>>;
type IssuedAppKey = Awaited<ReturnType<typeof issueKey>>;

/** The key that a command works on. */
export const appIdArg = {
  type: "positional",
  required: true,
  completes: "key",
  description: "Id of the key; with -n also its name",
} as const satisfies PositionalArg;

/** `-n` of a command that takes a key's id. The key must belong to that store. */
export const expectedNamespaceArg = {
  ...namespaceArg,
  description: "Store of the key; required to name a key instead of its id",
} as const satisfies FlagArg;

export const secretFileArg = {
  type: "string",
  valueHint: "path",
  completes: "file",
  description: "Write the secret to this new file (mode 0600) and do not print it",
} as const satisfies FlagArg;

type KeyArgs = SharedValues & { app_id: string; namespace: string | undefined };

/**
 * Runs work on the key with this id, or with this name in the store of `-n`.
 * @throws notFound for an unknown key or one of another store; conflict for a name of several keys.
 */
export function withKey<T>(
  args: KeyArgs,
  console: Console,
  work: (ctx: SystemCtx, appId: string) => Promise<T>,
): Promise<T> {
  return withContext(args, console, async (ctx) => {
    const { resolveKeyId } = await import("../../../server/modules/app-keys/resolve.ts");
    return work(ctx, await resolveKeyId(ctx, args.app_id, args.namespace));
  });
}

/** A key as a question names it, so that nobody answers for another one. */
export function describeKey({ name, app_id, namespace }: AppKey): string {
  return `${JSON.stringify(name)} (${app_id}) of ${namespace}`;
}

/** Prints a key without its secret: whole as JSON, for people without the list of its secrets' times. */
export function printKey(console: Console, key: AppKey | AppKeyDetails): Promise<void> {
  if (console.json || !("secrets" in key)) return printRecord(console, key, "app_id");
  return printRecord(console, { ...key, secrets: key.secrets.length }, "app_id");
}

/** Makes a secret, and delivers it once: into a file, or on standard output; `-q` prints it as it stands after `Bearer`. */
export function deliverKey(
  args: SharedValues & { "secret-file": string | undefined },
  console: Console,
  make: (ctx: SystemCtx) => Promise<IssuedAppKey>,
): Promise<IssuedAppKey> {
  const shape = {
    idField: "app_id",
    secretField: "app_secret",
    separator: ":",
    renew: ({ app_id }: IssuedAppKey) => `key rotate ${app_id} --yes`,
  } as const;
  const place = { flag: "--secret-file", path: args["secret-file"] } as const;
  return deliverSecret(console, place, shape, () => withContext(args, console, make));
}
