import type { SystemCtx } from "../../../server/context.ts";
import { isInUse, keyState, type StoredSecret } from "../../../server/modules/app-keys/model.ts";
import { parseOriginPattern } from "../../../server/modules/app-keys/origin-pattern.ts";
import type { getKey, issueKey } from "../../../server/modules/app-keys/service.ts";
import { listVisitorActs } from "../../../server/security/scopes.ts";
import { withContext } from "../../context/context.ts";
import { type Arg, fileArg, namespaceArg, type SharedValues, valueArg } from "../../framework/args.ts";
import { deliverSecret } from "../../secrets/secrets.ts";
import {
  type Console,
  formatRelativeTime,
  formatTime,
  info,
  printJson,
  printList,
  printRecord,
  warn,
} from "../../terminal/console.ts";
import { askText, confirmAction } from "../../terminal/prompt.ts";

export const appIdArg = {
  type: "positional",
  required: true,
  completes: "key",
  description: "Id of the key, or its name with -n",
  check: (text, values, console) => withKey({ ...values, app_id: text } as KeyArgs, console, async () => {}),
} as const satisfies Arg;

export const expectedNamespaceArg = {
  ...namespaceArg,
  description: "Store of the key; required if the key is given by name and there are several stores",
} satisfies Arg;

export const saveSecretArg = fileArg("Write the secret to this new file (mode 0600) and do not print it");

export function scopeArg(description: string) {
  return valueArg("scope", description, { multiple: true, field: "scopes", completes: "scope" });
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

export type AppKeyDetails = Awaited<ReturnType<typeof getKey>>;
type IssuedAppKey = Awaited<ReturnType<typeof issueKey>>;

const dayMs = 86_400_000;
const soonMs = 30 * dayMs;

export function printKey(console: Console, key: AppKeyDetails): Promise<void> {
  return console.json ? printJson(console, key) : printRecord(console, toFields(key));
}

function toFields(key: AppKeyDetails & { app_secret?: string }): object {
  const { app_id, app_secret, namespace, name, scopes, origins, enforce_origins, allow_no_origin } = key;
  return {
    app_id,
    ...(app_secret !== undefined && { app_secret }),
    namespace,
    name,
    state: keyState(key, Date.now()),
    scopes,
    origins: enforce_origins ? origins : "any",
    ...(enforce_origins && { without_origin: allow_no_origin ? "allowed" : "rejected" }),
    created: key.created_at,
    expires: key.expires_at ?? "never",
    ...(key.revoked_at !== null && { revoked: key.revoked_at }),
    last_used: key.last_used_at ?? "never",
  };
}

/** Prints a key and its secrets, the newest of which is the current one. */
export async function printKeySheet(console: Console, key: AppKeyDetails): Promise<void> {
  await printKey(console, key);
  if (console.quiet || console.json || key.secrets.length === 0) return;
  const [newest, ...old] = key.secrets as [StoredSecret, ...StoredSecret[]];
  await console.write("\n");
  await printList(console, key.secrets, {
    empty: "No secrets.",
    columns: [
      { header: "SECRET", value: (secret) => (secret === newest ? "current" : "old") },
      "created_at",
      "last_used_at",
      { header: "VALID UNTIL", value: ({ expires_at }) => expires_at ?? "the key is rotated" },
    ],
  });
  const valid = old.filter(({ expires_at }) => Date.parse(expires_at ?? "") > Date.now());
  if (valid.length === 0) return;
  const advice = valid.some((secret) => isInUse(secret, newest))
    ? "Do not retire the old secret until the current one is used instead."
    : `The old secret can be retired: the current one is in use. Retire it: bodega key retire ${key.app_id}`;
  await info(console, advice);
}

export async function warnOfKeys(console: Console, keys: readonly AppKeyDetails[], now: number): Promise<void> {
  if (console.json || console.quiet) return;
  for (const key of keys) for (const warning of findWarnings(key, now)) await warn(console, warning);
}

function findWarnings(key: AppKeyDetails, now: number): string[] {
  if (key.revoked_at !== null) return [];
  const subject = `${key.name} (${key.app_id})`;
  const leftMs = key.expires_at === null ? Number.POSITIVE_INFINITY : Date.parse(key.expires_at) - now;
  const extend = `bodega key update ${key.app_id} --expires 90d`;
  if (leftMs <= 0) {
    return [`${subject} expired ${formatTime(key.expires_at, now)}: requests with it fail. Extend it: ${extend}`];
  }
  const [newest, ...old] = key.secrets;
  const warnings = old
    .filter((secret) => {
      const leftMs = Date.parse(secret.expires_at ?? "") - now;
      return newest && isInUse(secret, newest) && leftMs > 0 && leftMs <= dayMs;
    })
    .map(({ expires_at, last_used_at }) => {
      const used = formatRelativeTime(last_used_at, now);
      return `an old secret of ${subject} expires ${formatTime(expires_at, now)}. It was used last: ${used}.`;
    });
  if (leftMs <= soonMs) warnings.unshift(`${subject} expires ${formatTime(key.expires_at, now)}. Extend it: ${extend}`);
  return warnings;
}

export function describeKey({ name, app_id, namespace }: AppKeyDetails): string {
  return `${JSON.stringify(name)} (${app_id}) of ${namespace}`;
}

/** Creates a secret and delivers it once: to a file, or on standard output. `-q` prints `<app_id>:<app_secret>`. */
export function deliverKey(
  args: SharedValues & { "save-secret-to": string | undefined },
  console: Console,
  make: (ctx: SystemCtx) => Promise<IssuedAppKey>,
): Promise<IssuedAppKey> {
  let details: AppKeyDetails;
  const show = (key: object) => toFields({ ...details, ...key });
  const shape = { kind: "secret", secretField: "app_secret", separator: ":", show } as const;
  return deliverSecret(console, args["save-secret-to"], shape, () =>
    withContext(args, console, async (ctx) => {
      const { getKey } = await import("../../../server/modules/app-keys/service.ts");
      const made = await make(ctx);
      details = await getKey(ctx, made.app_id);
      return made;
    }),
  );
}

/** Asks before a change stops or opens a key in use. Scripts are not asked, so they can stop a leaked key at once. */
export async function confirmInUse(console: Console, key: AppKeyDetails, question: string): Promise<void> {
  const state = keyState(key, Date.now());
  if (key.last_used_at === null || state !== "published" || !console.canAsk) return;
  await confirmAction(console, `${question} Last used: ${formatRelativeTime(key.last_used_at, Date.now())}.`);
}

/** Asks before a page gets a key with more rights than a storefront key has. Without a terminal, it only warns. */
export async function confirmPages(
  console: Console,
  { name, scopes }: Pick<AppKeyDetails, "name" | "scopes">,
  origins: readonly string[],
) {
  const acts = listVisitorActs(scopes);
  if (acts.length === 0 || origins.length === 0 || console.assumeYes) return;
  const risk = `Every visitor of ${origins.join(", ")} can read key ${JSON.stringify(name)} and then ${acts.join(", ")}.`;
  if (console.canAsk || !(console.quiet || console.json)) await warn(console, `${risk} Give pages a storefront key.`);
  if (console.canAsk) await confirmAction(console, "Let these sites use the key?");
}
