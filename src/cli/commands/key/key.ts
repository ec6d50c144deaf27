import type { SystemCtx } from "../../../server/context.ts";
import { keyState } from "../../../server/modules/app-keys/model.ts";
import { parseOriginPattern } from "../../../server/modules/app-keys/origin-pattern.ts";
import type { AppKeyDetails, IssuedAppKey } from "../../../server/modules/app-keys/service.ts";
import { keyPurposes, listVisitorActs, parseScopes } from "../../../server/security/scopes.ts";
import { withContext } from "../../context/context.ts";
import type { CommandArgs, SharedValues } from "../../framework/args.ts";
import { choiceArg, fileArg, namespaceArg, requiredNamespaceArg, valueArg, wordArg } from "../../framework/args.ts";
import { defineCommand } from "../../framework/command.ts";
import { parseFutureTime } from "../../framework/parse-values.ts";
import { deliverSecret } from "../../secrets/secrets.ts";
import { type Console, formatRelativeTime, info, invalidFlag, printRecord, warn } from "../../terminal/console.ts";
import { askChoice, askText, confirmAction } from "../../terminal/prompt.ts";

export function aboutKey<const T extends CommandArgs>(args: T) {
  const app_id = wordArg("Id of the key, or its name with -n", { completes: "key" });
  const description = "Store of the key; required if the key is given by name and there are several stores";
  return { app_id, ...args, namespace: { ...namespaceArg, description } };
}

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

export async function loadKey(args: KeyArgs, console: Console): Promise<AppKeyDetails> {
  return withKey(args, console, (await import("../../../server/modules/app-keys/service.ts")).getKey);
}

export async function askOrigins(message: string, optional = false): Promise<string[]> {
  const split = (text: string) => text.split(/[\s,]+/).filter((entry) => entry !== "");
  return split(await askText(message, { optional, check: (text) => split(text).map(parseOriginPattern) }));
}

export function printKey(console: Console, key: AppKeyDetails): Promise<void> {
  return printRecord(console, console.json ? key : toFields(key));
}

function toFields(key: AppKeyDetails): object {
  const { active: _active, published: _published, secrets: _secrets, origins, ...rest } = key;
  const { enforce_origins, allow_no_origin, expires_at, last_used_at, ...fields } = rest;
  return {
    ...fields,
    state: keyState(key, Date.now()),
    origins: enforce_origins ? origins : "any",
    without_origin: allow_no_origin || !enforce_origins ? "allowed" : "rejected",
    expires: expires_at ?? "never",
    last_used: last_used_at ?? "never",
  };
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
  const shown = { secretField: "app_secret" } as const;
  return deliverSecret(console, args["save-secret-to"], shown, () => withContext(args, console, make));
}

/** Asks before a change to a key in use. Does not ask without a terminal, so that scripts can stop leaked keys. */
export async function confirmInUse(console: Console, key: AppKeyDetails, question: string): Promise<void> {
  const state = keyState(key, Date.now());
  if (key.last_used_at === null || state !== "published" || !console.canAsk) return;
  await confirmAction(console, `${question} Last used: ${formatRelativeTime(key.last_used_at, Date.now())}.`);
}

/** Asks before pages may use a key that can do more than a storefront key. Without a terminal, it only warns. */
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

const purposes = ["storefront", "backend", "import"] as const;

export const issueCommand = defineCommand({
  description: "Issue an app key for a store",
  args: {
    namespace: requiredNamespaceArg,
    name: valueArg("text", "Name of the key, such as app", { required: true }),
    for: choiceArg(purposes, "Purpose, which sets the permissions and whether pages may use the key"),
    scope: scopeArg("Permission, such as products:read, instead of a purpose"),
    origin: valueArg("host", "Site whose pages may use the key: shop.example.com or *.example.com", {
      multiple: true,
      field: "origins",
    }),
    "allow-no-origin": { type: "boolean", description: "Allow requests without an Origin header, for servers" },
    publish: { type: "boolean", description: "Publish the key now" },
    expires: valueArg("duration|time", "Expiry: 90d (from now), or 2030-01-31T00:00:00Z (default: never)", {
      field: "expires_at",
      parse: parseFutureTime,
    }),
    "save-secret-to": saveSecretArg,
  },
  examples: [
    "bodega key issue -n demo --name page --for storefront --origin shop.example.com --publish",
    "bodega key issue -n demo --name import --for import --expires 90d --save-secret-to import.secret",
  ],
  notes: [
    "Requests with an unpublished key fail. The secret is shown once and stored only as a hash.",
    "A storefront key is for pages in browsers, where every visitor can read it. It can read the published catalogue, place " +
      "orders and sign customers up, and needs --origin, or --allow-no-origin. A backend key can do everything. An import key can read and " +
      "write products. Without --origin, no page may use a backend or import key. Without a terminal, the default is a backend key.",
  ],
  exclusive: [["for", "scope"]],
  done: "Issued key {name}.",
  async run(args, console) {
    const { issueKeyWithOrigins } = await import("../../../server/modules/app-keys/origins.ts");
    const { namespace, name, publish, expires: expiresAt, "allow-no-origin": isWithoutOrigin } = args;
    const hasScopes = args.scope.length > 0;
    let purpose = args.for;
    if (purpose === undefined && !hasScopes && console.canAsk) {
      purpose = await askChoice<(typeof purposes)[number]>("What is the key for?", [
        { value: "storefront", name: "pages in browsers: read the published catalogue, order, sign customers up" },
        { value: "backend", name: "a server: everything" },
        { value: "import", name: "an import: read and write products" },
      ]);
    }
    const scopes = parseScopes(hasScopes ? args.scope : keyPurposes[purpose ?? "backend"]);
    // Backends and imports run on servers, which send no Origin header.
    const allowNoOrigin = isWithoutOrigin || purpose === "backend" || purpose === "import";
    // A storefront key need not have the permission `orders:place`, so this permission is not compared.
    const isStorefront = keyPurposes.storefront.every((one) => one === "orders:place" || scopes.includes(one));
    let origins = args.origin;
    if (isStorefront && !allowNoOrigin && origins.length === 0) {
      const remedy = "For apps, which send no Origin header, use --allow-no-origin.";
      if (!console.canAsk) throw invalidFlag("--origin", "is required for a storefront key", remedy);
      origins = await askOrigins("Sites whose pages may use the key, such as shop.example.com");
    }
    await confirmPages(console, { name, scopes }, origins);
    const key = await deliverKey(args, console, (ctx) =>
      issueKeyWithOrigins(ctx, { namespace, name, scopes, publish, expiresAt, origins, allowNoOrigin }),
    );
    if (!publish) await info(console, `The key is not published. Publish it: bodega key publish ${key.app_id}`);
  },
});
