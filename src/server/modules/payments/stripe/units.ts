import { wrongState } from "../../../errors.ts";

// The currencies that Stripe charges, without MGA, which is not decimal, and without currencies with three decimals.
const charged =
  "BIF CLP DJF GNF JPY KMF KRW PYG RWF VND VUV XAF XOF XPF " +
  "AED AFN ALL AMD ANG AOA ARS AUD AWG AZN BAM BBD BDT BMD BND BOB BRL BSD BWP BYN BZD CAD CDF CHF CNY COP CRC CVE CZK " +
  "DKK DOP DZD EGP ETB EUR FJD FKP GBP GEL GIP GMD GTQ GYD HKD HNL HTG HUF IDR ILS INR JMD KES KGS KHR KYD KZT LAK LBP " +
  "LKR LRD LSL MAD MDL MKD MMK MNT MOP MUR MVR MWK MXN MYR MZN NAD NGN NIO NOK NPR NZD PAB PEN PGK PHP PKR PLN QAR RON " +
  "RSD RUB SAR SBD SCR SEK SGD SHP SLE SOS SRD SZL THB TJS TOP TRY TTD TWD TZS UAH USD UYU UZS WST XCD XCG YER ZAR ZMW";

/** Returns how many of Stripe's units a minor unit has. Errors: wrongState if Stripe does not charge the currency. */
export function factorOf(currency: string): number {
  if (currency === "ISK" || currency === "UGX") return 100;
  if (charged.split(" ").includes(currency)) return 1;
  const remedy = "Stripe does not charge MGA, currencies with three decimals, and some others. Take bank transfers.";
  throw wrongState(`Stripe does not charge ${currency}.`, { remedy });
}

/** Converts an amount in minor units of ISO 4217 to Stripe's units. */
export const toStripe = (minor: number, currency: string): number => minor * factorOf(currency);

/** Converts an amount of Stripe's API, where currency codes are in lower case, to minor units of ISO 4217. */
export function fromStripe(amount: number, code: string): { amountMinor: number; currency: string } {
  const currency = code.toUpperCase();
  return { amountMinor: Math.round(amount / factorOf(currency)), currency };
}
