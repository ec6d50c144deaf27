import { parseOriginPattern } from "../../../server/modules/app-keys/origin-pattern.ts";
import { keyPurposes, parseScopes } from "../../../server/security/scopes.ts";
import { requireText } from "../../../server/values/fields.ts";
import { choiceArg, requiredNamespaceArg, valueArg } from "../../framework/args.ts";
import { defineCommand } from "../../framework/command.ts";
import { parseFutureTime, refuseTogether } from "../../framework/parse-values.ts";
import { type Console, info, UsageError } from "../../terminal/console.ts";
import { askChoice } from "../../terminal/prompt.ts";
import { askOrigins, confirmPages, deliverKey, saveSecretArg, scopeArg } from "./key.ts";

const purposes = ["storefront", "backend", "import"] as const;

export default defineCommand({
  description: "Issue an app key for a store",
  args: {
    namespace: requiredNamespaceArg,
    name: valueArg("text", "Name of the key, such as app", {
      required: true,
      check: (text) => requireText("name", text, 100),
    }),
    for: choiceArg(purposes, "Purpose, which sets the permissions and whether pages may use the key"),
    scope: scopeArg("Permission, such as products:read, instead of a purpose"),
    origin: valueArg("host", "Site whose pages may use the key: shop.example.com or *.example.com", {
      multiple: true,
      field: "origins",
      check: parseOriginPattern,
    }),
    "allow-no-origin": { type: "boolean", description: "Allow requests without an Origin header, as servers send" },
    publish: { type: "boolean", description: "Publish the key now" },
    expires: valueArg("duration|time", "Expiry: 90d (from now), or 2030-01-31T00:00:00Z (default: never)", {
      field: "expires_at",
      parse: parseFutureTime,
    }),
    "save-secret-to": saveSecretArg,
  },
  examples: [
    "bodega key issue -n demo --name page --for storefront --origin shop.example.com --publish",
    "bodega key issue -n demo --name import --for import --expires 90d",
    "bodega key issue -n demo --name backend --save-secret-to backend.secret --json",
  ],
  notes: [
    "Requests with an unpublished key fail. The secret is shown once and stored only as a hash.",
    "A storefront key is for pages in browsers, where every visitor can read it: it reads the published catalogue and signs " +
      "customers up. It needs --origin, or --allow-no-origin. A backend key can do everything, an import key reads and " +
      "writes products; pages may use these two only with --origin. Without --for, a script gets a backend key.",
  ],
  done: "Issued key {name}.",
  async run(args, console) {
    const { issueKeyWithOrigins } = await import("../../../server/modules/app-keys/origins.ts");
    const { namespace, name, publish, expires: expiresAt, "allow-no-origin": isWithoutOrigin } = args;
    refuseTogether(args, [["--for", "--scope"]]);
    const hasScopes = args.scope.length > 0;
    let purpose = hasScopes ? undefined : args.for;
    if (purpose === undefined && !hasScopes && console.canAsk) {
      purpose = await askChoice<(typeof purposes)[number]>("What is the key for?", [
        { value: "storefront", name: "pages in browsers: read the published catalogue, sign customers up" },
        { value: "backend", name: "a server: everything" },
        { value: "import", name: "an import: read and write products" },
      ]);
    }
    const scopes = parseScopes(hasScopes ? args.scope : keyPurposes[purpose ?? "backend"]);
    // Browsers refuse a server's key, unless its sites are named.
    const allowNoOrigin = isWithoutOrigin || purpose === "backend" || purpose === "import";
    const isStorefront = keyPurposes.storefront.every((scope) => scopes.includes(scope));
    const needsOrigin = isStorefront && !allowNoOrigin && args.origin.length === 0;
    const origins = needsOrigin ? await askForOrigins(console) : args.origin;
    await confirmPages(console, { name, scopes }, origins);
    const key = await deliverKey(args, console, (ctx) =>
      issueKeyWithOrigins(ctx, { namespace, name, scopes, publish, expiresAt, origins, allowNoOrigin }),
    );
    if (!publish) await info(console, `The key is not published. Publish it: bodega key publish ${key.app_id}`);
  },
});

async function askForOrigins(console: Console): Promise<string[]> {
  if (console.canAsk) return askOrigins("Sites whose pages may use the key, such as shop.example.com");
  throw new UsageError("A storefront key needs --origin, or --allow-no-origin for apps that send no Origin header.", {
    details: [{ field: "--origin", message: "is required for a storefront key" }],
  });
}
