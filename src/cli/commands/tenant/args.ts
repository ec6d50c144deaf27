import type { ArgValues, CommandArgs, PositionalArg } from "../../framework/args.ts";
import { parseDuration } from "../../framework/parse-values.ts";
import { invalidFlag } from "../../terminal/usage-error.ts";

/** The store that a `tenant` command works on; `-n` and BODEGA_NAMESPACE can name it instead. */
export const tenantArg = {
  type: "positional",
  label: "namespace",
  required: true,
  fallback: "namespace",
  field: "namespace",
  completes: "namespace",
  description: "Namespace of the store",
} as const satisfies PositionalArg;

/** The namespace of a new store. */
export const newTenantArg = {
  ...tenantArg,
  completes: undefined,
  description: "Namespace of the new store, such as my-shop",
} as const satisfies PositionalArg;

/** Fields of a store besides its namespace. */
export const tenantFlags = {
  title: { type: "string", valueHint: "text", description: "Name of the store" },
  domain: { type: "string", valueHint: "host", allowEmpty: true, description: "Host name of the store" },
  url: { type: "string", valueHint: "url", allowEmpty: true, description: "URL of the store's website" },
  currency: { type: "string", valueHint: "code", description: "Currency of prices, an ISO 4217 code such as EUR" },
  "currency-sign": { type: "string", valueHint: "sign", description: "Currency sign (default: the usual one)" },
  logo: { type: "string", valueHint: "url", allowEmpty: true, description: "URL of the logo" },
  language: { type: "string", valueHint: "tag", description: "Default language of texts, such as en or pt-BR" },
  "token-lifetime": {
    type: "string",
    valueHint: "duration",
    description: "Lifetime of new user tokens, such as 12h or 30d (5m to 400d; default: 30d)",
  },
  "points-rate": {
    type: "string",
    valueHint: "number",
    description: "Points earned per 100 minor units paid (1.00 EUR), such as 1.5; 0 for none (default: 1)",
  },
  "point-value": {
    type: "string",
    valueHint: "amount",
    description: "Value of a point when it is spent, such as 0.01 (default: one minor unit)",
  },
  "points-days": {
    type: "string",
    valueHint: "days",
    description: "Days until new points expire, or none (default: none)",
  },
  "address-writes": {
    type: "string",
    valueHint: "number",
    description: "Likes, bookmarks, views and registrations per minute and IP address; 0 for no limit (default: 1200)",
  },
  "visitor-writes": {
    type: "string",
    valueHint: "number",
    description: "The same limit per visitor or user (default: 240)",
  },
} as const satisfies CommandArgs;

/**
 * The store's fields for the service; an empty flag clears its field.
 * @throws UsageError for a value that is no duration or number.
 */
export function readTenantFlags(args: ArgValues<typeof tenantFlags>) {
  const { "token-lifetime": lifetime, "points-days": days } = args;
  return {
    title: args.title,
    domain: clearEmpty(args.domain),
    url: clearEmpty(args.url),
    currency: args.currency,
    currencySign: args["currency-sign"],
    logo: clearEmpty(args.logo),
    language: args.language,
    tokenLifetime: lifetime === undefined ? undefined : parseDuration("--token-lifetime", lifetime) / 1000,
    pointsRate: readDecimal("--points-rate", args["points-rate"]),
    pointValue: readDecimal("--point-value", args["point-value"]),
    pointsDays: days === "none" ? null : readWhole("--points-days", days, "days, or none"),
    addressWrites: readWhole("--address-writes", args["address-writes"], "writes per minute"),
    visitorWrites: readWhole("--visitor-writes", args["visitor-writes"], "writes per minute"),
  };
}

/** At most 16 characters, which a double holds exactly. */
function readDecimal(flag: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (/^(?=.{1,16}$)\d+(?:\.\d+)?$/.test(text)) return Number(text);
  throw invalidFlag(flag, "must be a number such as 1.5");
}

function readWhole(flag: string, text: string | undefined, what: string): number | undefined {
  if (text === undefined) return undefined;
  if (/^\d{1,9}$/.test(text)) return Number(text);
  throw invalidFlag(flag, `must be a whole number of ${what}`);
}

function clearEmpty(value: string | undefined): string | null | undefined {
  return value === "" ? null : value;
}
