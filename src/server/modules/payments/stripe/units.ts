import { wrongState } from "../../../errors.ts";

// Currencies that Stripe charges, by the factor between minor units of ISO 4217 and those of Stripe. Not among them are
// MGA, which is not decimal, and currencies of three decimals.
const byFactor: Readonly<Record<number, string>> = {
  1:
    "BIF CLP DJF GNF JPY KMF KRW PYG RWF VND VUV XAF XOF XPF " +
    "AED AFN ALL AMD ANG AOA ARS AUD AWG AZN BAM BBD BDT BMD BND BOB BRL BSD BWP BYN BZD CAD CDF CHF CNY COP CRC CVE CZK " +
    "DKK DOP DZD EGP ETB EUR FJD FKP GBP GEL GIP GMD GTQ GYD HKD HNL HTG HUF IDR ILS INR JMD KES KGS KHR KYD KZT LAK LBP " +
    "LKR LRD LSL MAD MDL MKD MMK MNT MOP MUR MVR MWK MXN MYR MZN NAD NGN NIO NOK NPR NZD PAB PEN PGK PHP PKR PLN QAR RON " +
    "RSD RUB SAR SBD SCR SEK SGD SHP SLE SOS SRD SZL THB TJS TOP TRY TTD TWD TZS UAH USD UYU UZS WST XCD XCG YER ZAR ZMW",
  100: "ISK UGX",
};
const factors = new Map(
  Object.entries(byFactor).flatMap(([factor, codes]) => codes.split(" ").map((code) => [code, Number(factor)])),
);

/** Errors: wrongState for a currency that Stripe does not charge. */
export function factorOf(currency: string): number {
  const factor = factors.get(currency);
  if (factor !== undefined) return factor;
  const remedy = "Stripe charges neither MGA nor currencies of three decimals, nor some others. Take bank transfers.";
  throw wrongState(`Stripe does not charge ${currency}.`, { remedy });
}

/** Converts an amount in minor units of ISO 4217. */
export const toStripe = (minor: number, currency: string): number => minor * factorOf(currency);

/** Converts an amount of Stripe's API, whose codes are in lower case. */
export function fromStripe(amount: number, code: string): { amountMinor: number; currency: string } {
  const currency = code.toUpperCase();
  return { amountMinor: Math.round(amount / (factors.get(currency) ?? 1)), currency };
}
