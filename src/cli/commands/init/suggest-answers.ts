import type { Environment } from "../../../server/config/environment.ts";
import { spellPlainly } from "../../../server/values/fold-letters.ts";

// Where the currency is not the euro; regions of ISO 3166.
const currencies: Record<string, string> = {
  AE: "AED",
  AR: "ARS",
  AU: "AUD",
  BR: "BRL",
  CA: "CAD",
  CH: "CHF",
  CL: "CLP",
  CN: "CNY",
  CO: "COP",
  CZ: "CZK",
  DK: "DKK",
  EG: "EGP",
  GB: "GBP",
  HK: "HKD",
  HU: "HUF",
  ID: "IDR",
  IL: "ILS",
  IN: "INR",
  JP: "JPY",
  KE: "KES",
  KR: "KRW",
  LI: "CHF",
  MA: "MAD",
  MX: "MXN",
  MY: "MYR",
  NG: "NGN",
  NO: "NOK",
  NZ: "NZD",
  PE: "PEN",
  PH: "PHP",
  PK: "PKR",
  PL: "PLN",
  RO: "RON",
  RS: "RSD",
  RU: "RUB",
  SA: "SAR",
  SE: "SEK",
  SG: "SGD",
  TH: "THB",
  TN: "TND",
  TR: "TRY",
  TW: "TWD",
  UA: "UAH",
  US: "USD",
  UY: "UYU",
  VN: "VND",
  ZA: "ZAR",
};
const usualCurrency = "EUR";
const usualLanguage = "en";

/** What the terminal's locale suggests: its language, and the currency of its region. */
export function suggestFromLocale(env: Environment): { currency: string; language: string } {
  const locale = env.LC_ALL || env.LC_MESSAGES || env.LANG || "";
  const [, language, region] = /^([a-z]{2,3})(?:_([A-Z]{2}))?(?:[.@]|$)/.exec(locale) ?? [];
  return {
    language: language ?? usualLanguage,
    currency: (region !== undefined && currencies[region]) || usualCurrency,
  };
}

/**
 * A namespace out of a store's name, as a slug has it: `ada-s-mugs`, `große-öfen` as `grosse-ofen`. Empty where no letter
 * of it can stand in one.
 */
export function suggestNamespace(slug: string): string {
  const plain = slug.normalize("NFKD").replaceAll(/\p{M}/gu, "");
  const letters = spellPlainly(plain).replaceAll(/[^a-z0-9-]/g, "");
  return letters.replaceAll(/-{2,}/g, "-").replace(/^-+/, "").slice(0, 63).replace(/-+$/, "");
}
