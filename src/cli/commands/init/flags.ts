import { resolve } from "node:path";
import type { Shop } from "../../../server/admin/create-shop.ts";
import { invalidField } from "../../../server/errors.ts";
import { parseOriginPattern } from "../../../server/modules/app-keys/origin-pattern.ts";
import {
  parseCountry,
  parseCurrency,
  parseNamespace,
  parseStoreLanguage,
} from "../../../server/modules/tenants/input.ts";
import { parseEmail, parseFromAddress } from "../../../server/values/email.ts";
import { requireText } from "../../../server/values/fields.ts";
import {
  type Arg,
  type ArgValues,
  type CommandArgs,
  choiceArg,
  fileArg,
  namespaceArg,
  type SharedValues,
  sharedArgs,
  valueArg,
} from "../../framework/args.ts";
import { isGiven } from "../../framework/parse-values.ts";
import { missingError } from "../../framework/questions.ts";
import { passwordFlags } from "../../secrets/secrets.ts";
import { addressFlags, replicateFlag, serverFlags, withVariables } from "../serve/serve.ts";

export const initFlags = {
  namespace: { ...namespaceArg, description: "Namespace of the store in every request (default: made from --title)" },
  title: valueArg("text", "Name of the store"),
  currency: valueArg("code", "Currency of prices, an ISO 4217 code (default: EUR)"),
  language: valueArg("tag", "Default language of texts, such as en or pt-BR (default: en)"),
  country: valueArg("code", "Country of the store, such as DE: its taxes apply to orders without an address"),
  "prices-include-tax": choiceArg(["yes", "no"], "Whether prices include tax (default: yes; no for US and CA)"),
  "owner-email": valueArg("address", "Email of the owner, who has every permission in the store", { field: "email" }),
  "owner-name": valueArg("text", "Name of the owner", { field: "name" }),
  ...passwordFlags,
  "no-owner": { type: "boolean", description: "Create no owner" },
  "key-name": valueArg("text", "Name of the first app key (default: backend, or storefront with --origin)", {
    field: "key_name",
  }),
  publish: { type: "boolean", description: "Publish the key now" },
  origin: valueArg("host", "Site whose pages may use the key, such as shop.example.com or *.example.com", {
    multiple: true,
    field: "origins",
  }),
  "save-secret-to": fileArg("Write the key's secret to this new file (mode 0600) and do not print it"),
  "smtp-url-file": fileArg("File with the URL of the mail server, such as smtps://user:password@mail.example.com"),
  ...withVariables({ "mail-from": valueArg("address", "Sender address of all mail") }),
  "print-unit": { type: "boolean", description: "Print a systemd unit, and create nothing" },
  serve: { type: "boolean", description: "Start the server when done" },
  "no-serve": { type: "boolean", description: "Do not start the server when done" },
  ...serverFlags,
  ...addressFlags,
  ...replicateFlag,
} as const satisfies CommandArgs;

export type InitArgs = ArgValues<typeof initFlags> & SharedValues;

/** Checks answers from flags and questions. Each check throws validationFailed, which names the field. */
export const checks = {
  namespace: parseNamespace,
  title: (text: string) => requireText("title", text, 200),
  currency: parseCurrency,
  language: parseStoreLanguage,
  country: parseCountry,
  "owner-email": (text: string) => parseEmail("email", text),
  "owner-name": (text: string) => requireText("name", text, 200),
  "key-name": (text: string) => requireText("key_name", text, 100),
  "mail-from"(text: string) {
    if (parseFromAddress(text) === null)
      throw invalidField("mail_from", "must be an address, such as shop@example.com");
  },
} satisfies Partial<Record<keyof typeof initFlags, (text: string) => unknown>>;

/** Refuses wrong values of flags before the first question. Errors: validationFailed. */
export function checkFlags(args: InitArgs): void {
  for (const [name, check] of Object.entries(checks)) {
    const value = args[name as keyof typeof checks];
    if (value !== undefined) check(value);
  }
  args.origin.forEach(parseOriginPattern);
}

/** Returns the flags that are settings, as environment variables. Leaves out the mail server and a random port. */
export function readSettings(args: InitArgs): Record<string, string> {
  const flags: CommandArgs = { ...initFlags, "database-url": sharedArgs["database-url"] };
  const entries = Object.entries(flags).flatMap(([name, arg]) => {
    const value = [args[name as keyof InitArgs] ?? []].flat().join(",");
    const isSetting = arg.env !== undefined && name !== "namespace";
    if (!isSetting || value === "" || (name === "port" && Number(value) === 0)) return [];
    return [[arg.env, arg.completes && !value.startsWith("s3:") ? resolve(value) : value]];
  });
  return Object.fromEntries(entries);
}

/** Throws malformedRequest for flags that are missing without a terminal. `namespace` is undefined if no flag gives it. */
export function requireFlags(args: InitArgs, namespace: string | undefined, shop: Shop): void {
  const isUnnamed = namespace === undefined;
  const hasTitle = args.title !== undefined;
  const needsOwner = shop.owner === null && !args["no-owner"];
  const hasPassword = Object.keys(passwordFlags).some((name) => isGiven(args[name as keyof typeof passwordFlags]));
  const isMissing = {
    namespace: isUnnamed && hasTitle,
    title: isUnnamed && !hasTitle,
    "owner-email": needsOwner && args["owner-email"] === undefined,
    "password-stdin": needsOwner && !hasPassword,
  };
  const missing = Object.entries<Arg>(initFlags).filter(([name]) => isMissing[name as keyof typeof isMissing]);
  if (missing.length === 0) return;
  const ownerHint = needsOwner ? "Or use --random-password, or --no-owner." : undefined;
  throw missingError(
    missing,
    isMissing.namespace ? "No namespace can be made from --title: it has no letter a-z and no digit." : ownerHint,
  );
}
