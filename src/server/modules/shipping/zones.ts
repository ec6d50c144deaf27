/** The fields of a shipping rate that decide to which addresses it applies. */
export interface ZoneRate {
  zone: string;
  /** Codes of ISO 3166-1 alpha-2; `*` stands for all other countries. */
  countries: readonly string[];
  /** Beginnings of normalized postcodes; empty for the whole country. */
  postcodes: readonly string[];
}

/** Returns the form in which postcodes are compared. It is the same for `sw1a 1aa` and `ＳＷ１Ａ-1AA`. */
export function normalizePostcode(postcode: string): string {
  return postcode
    .normalize("NFKC")
    .replaceAll(/[^\p{L}\p{N}]/gu, "")
    .toUpperCase();
}

/** The form of normalized postcodes in countries that use only digits. Buyers may write the country before them. */
const digitForms: [form: RegExp, countries: string][] = [
  [/^[A-Z]{0,3}\d{4}$/, "AT AU BE BG CH DK HU LI LU LV NO NZ SI SJ"],
  [/^[A-Z]{0,3}\d{5}$/, "AX CZ DE EE ES FI FR GR HR IT LT MC PL SE SK TR UA"],
];

/** Whether the zone depends on the postcode, and the postcode is missing or cannot be one of the country. */
export function lacksPostcode(rates: readonly ZoneRate[], country: string, postcode: string): boolean {
  if (!rates.some((rate) => rate.postcodes.length > 0 && rate.countries.includes(country))) return false;
  const [form] = digitForms.find(([, countries]) => countries.includes(country)) ?? [/^[A-Z0-9]+$/];
  return !form.test(normalizePostcode(postcode));
}

/**
 * Returns the zone with the longest matching beginning of the postcode. If no postcode matches, returns the zone of the
 * country, or else the zone of `*`. Undefined if no zone matches.
 */
export function zoneOf(rates: readonly ZoneRate[], country: string, postcode: string): string | undefined {
  const given = rates.some(({ postcodes }) => postcodes.length > 0) ? normalizePostcode(postcode) : "";
  let deepest = -1;
  let zone: string | undefined;
  for (const rate of rates) {
    const depth = depthOf(rate, country, given);
    if (depth <= deepest) continue;
    deepest = depth;
    zone = rate.zone;
  }
  return zone;
}

/** Returns how a rate matches an address: -1 not at all, 0 by `*`, 1 by the country, above 1 by the postcode. */
function depthOf({ countries, postcodes }: ZoneRate, country: string, postcode: string): number {
  const isNamed = countries.includes(country);
  if (!isNamed && !countries.includes("*")) return -1;
  if (postcodes.length === 0) return isNamed ? 1 : 0;
  // Buyers may write the country before the postcode, such as D-25938.
  const digits = postcode.replace(/^\D+/, "");
  const isOf = (start: string) => postcode.startsWith(start) || digits.startsWith(start);
  const lengths = postcodes.filter(isOf).map((start) => start.length);
  return lengths.length === 0 ? -1 : 1 + Math.max(...lengths);
}
