import type { SystemCtx } from "../../../server/context.ts";
import type { getKey, issueKey, publishKey } from "../../../server/modules/app-keys/service.ts";
import { withContext } from "../../context/context.ts";
import { type FlagArg, namespaceArg, type PositionalArg, type SharedValues } from "../../framework/args.ts";
import { handOver } from "../../secrets/deliver.ts";
import type { Console } from "../../terminal/console.ts";
import { escapeControls } from "../../terminal/escape.ts";
import { info, printRecord, warn } from "../../terminal/output.ts";

/** A key as most commands return it, as `show` does, and with its secret. */
export type AppKey = Awaited<ReturnType<typeof publishKey>>;
export type AppKeyDetails = Awaited<ReturnType<typeof getKey>>;
type IssuedAppKey = Awaited<ReturnType<typeof issueKey>>;

/** The key that a command is about. */
export const appIdArg = {
  type: "positional",
  required: true,
  completes: "key",
  description: "Id of the key; with -n also its name",
} as const satisfies PositionalArg;

/** `-n` where an id names the tenant already: there it is a check, not a choice. */
export const expectedNamespaceArg = {
  ...namespaceArg,
  description: "Tenant that the key belongs to",
} as const satisfies FlagArg;

/** Where a new secret goes instead of the screen. */
export const secretFileArg = {
  type: "string",
  valueHint: "path",
  completes: "file",
  description: "Write the secret to this new file (mode 0600) and do not print it",
} as const satisfies FlagArg;

type KeyArgs = SharedValues & { app_id: string; namespace: string | undefined };

/**
 * Runs work on the key that is named by id, or by name where `-n` says in which tenant.
 * @throws notFound when there is none, or it is another tenant's; conflict for a name that several keys have.
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

/**
 * Has a secret made in one transaction, and hands it over exactly once, before that is committed: into a file, or on
 * standard output. `-q` prints `<app_id>:<app_secret>`, which is what stands after `Bearer`.
 */
export async function deliverSecret(
  args: SharedValues & { "secret-file": string | undefined },
  console: Console,
  make: (ctx: SystemCtx) => Promise<IssuedAppKey>,
): Promise<IssuedAppKey> {
  const { inTransaction } = await import("../../../server/db/transaction.ts");
  const place = { path: args["secret-file"], flag: "--secret-file" };
  const { made, file } = await handOver(args, console, place, (give) =>
    withContext(args, console, (ctx) =>
      inTransaction(ctx, async (tx) => {
        const issued = await make(tx);
        await give(issued.app_secret, () => showIssued(console, issued));
        return issued;
      }),
    ),
  );
  if (file === undefined) {
    if (!console.json) await warn(console, "The secret is shown this once; it cannot be read again.");
    return made;
  }
  const { app_secret: _, ...key } = made;
  if (console.json) await printRecord(console, { ...key, secret_file: file }, "app_id");
  else await printKey(console, key);
  await info(console, `The secret is in ${file}`);
  return made;
}

function showIssued(console: Console, issued: IssuedAppKey): Promise<void> {
  if (!console.quiet || console.json) return printRecord(console, issued, "app_id");
  return console.write(`${escapeControls(`${issued.app_id}:${issued.app_secret}`)}\n`);
}
