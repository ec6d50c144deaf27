import type { ArgValues, PositionalArg, VerbArgs } from "./args.ts";
import { parseDuration } from "./duration.ts";

/** The tenant that a `tenant` verb is about; `-n` and BODEGA_NAMESPACE may name it instead. */
export const tenantArg = {
  type: "positional",
  label: "namespace",
  required: true,
  fallback: "namespace",
  field: "namespace",
  description: "Namespace of the tenant",
} as const satisfies PositionalArg;

/** The same for a tenant that does not exist yet. */
export const newTenantArg = {
  ...tenantArg,
  description: "Namespace of the new tenant, such as my-shop",
} as const satisfies PositionalArg;

/** What can be said of a tenant besides its name. */
export const tenantFlags = {
  title: { type: "string", valueHint: "text", description: "Name of the store" },
  domain: { type: "string", valueHint: "host", allowEmpty: true, description: "Host name of the store" },
  url: { type: "string", valueHint: "url", allowEmpty: true, description: "Address of the store" },
  currency: { type: "string", valueHint: "code", description: "ISO 4217 code, such as EUR" },
  "currency-sign": { type: "string", valueHint: "sign", description: "Sign of the currency (default: the usual one)" },
  logo: { type: "string", valueHint: "url", allowEmpty: true, description: "Address of the logo" },
  language: { type: "string", valueHint: "tag", description: "Language of texts that name none, such as en or pt-BR" },
  "token-lifetime": {
    type: "string",
    valueHint: "span",
    description: "How long user tokens last from now on, such as 12h or 30d (5m to 400d; default: 30d)",
  },
} as const satisfies VerbArgs;

/**
 * The tenant's fields as the service takes them; a flag given empty clears its field.
 * @throws UsageError for a span that is none.
 */
export function readTenantFlags(args: ArgValues<typeof tenantFlags>) {
  const lifetime = args["token-lifetime"];
  return {
    title: args.title,
    domain: clearEmpty(args.domain),
    url: clearEmpty(args.url),
    currency: args.currency,
    currencySign: args["currency-sign"],
    logo: clearEmpty(args.logo),
    language: args.language,
    tokenLifetime: lifetime === undefined ? undefined : parseDuration("--token-lifetime", lifetime) / 1000,
  };
}

function clearEmpty(value: string | undefined): string | null | undefined {
  return value === "" ? null : value;
}
