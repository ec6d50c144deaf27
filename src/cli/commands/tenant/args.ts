import type { ArgValues, CommandArgs, PositionalArg } from "../../framework/args.ts";
import { parseDuration } from "../../framework/parse-values.ts";
import { UsageError } from "../../terminal/usage-error.ts";

/** The tenant that a `tenant` command is about; `-n` and BODEGA_NAMESPACE may name it instead. */
export const tenantArg = {
  type: "positional",
  label: "namespace",
  required: true,
  fallback: "namespace",
  field: "namespace",
  completes: "namespace",
  description: "Namespace of the tenant",
} as const satisfies PositionalArg;

/** The same for a tenant that does not exist yet. */
export const newTenantArg = {
  ...tenantArg,
  completes: undefined,
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
    valueHint: "duration",
    description: "How long user tokens last from now on, such as 12h or 30d (5m to 400d; default: 30d)",
  },
  "points-rate": {
    type: "string",
    valueHint: "number",
    description: "Points earned for every 100 of the smallest coin paid, EUR 1.00, such as 1.5; 0: none (default: 1)",
  },
  "point-value": {
    type: "string",
    valueHint: "amount",
    description: "What a point is worth when it pays, such as 0.01 (default: the smallest coin)",
  },
  "points-days": {
    type: "string",
    valueHint: "days",
    description: "How many days points last that are earned from now on, or none for ever (default: none)",
  },
  "address-writes": {
    type: "string",
    valueHint: "number",
    description: "Likes, bookmarks, new views and registrations a minute from one address; 0: no limit (default: 1200)",
  },
  "visitor-writes": {
    type: "string",
    valueHint: "number",
    description: "The same of one visitor or user; 0: no limit (default: 240)",
  },
} as const satisfies CommandArgs;

/**
 * The tenant's fields as the service takes them; a flag given empty clears its field.
 * @throws UsageError for a duration or a number that is none.
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
    addressWrites: readWhole("--address-writes", args["address-writes"], "writes a minute"),
    visitorWrites: readWhole("--visitor-writes", args["visitor-writes"], "writes a minute"),
  };
}

/** A number as it is written; one with more digits than a double can tell apart is none. */
function readDecimal(flag: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (/^(?=.{1,16}$)\d+(?:\.\d+)?$/.test(text)) return Number(text);
  const message = "must be a number such as 1.5";
  throw new UsageError(`${flag} ${message}.`, { details: [{ field: flag, message }] });
}

function readWhole(flag: string, text: string | undefined, what: string): number | undefined {
  if (text === undefined) return undefined;
  if (/^\d{1,9}$/.test(text)) return Number(text);
  const message = `must be a whole number of ${what}`;
  throw new UsageError(`${flag} ${message}.`, { details: [{ field: flag, message }] });
}

function clearEmpty(value: string | undefined): string | null | undefined {
  return value === "" ? null : value;
}
