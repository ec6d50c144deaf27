import { domainToASCII } from "node:url";
import { invalidField } from "../errors.ts";

const maxCharacters = 254;
/** Maximum characters before normalization, which is slow for long texts and can shorten an address. */
const maxGiven = 1024;
const label = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;
// Unquoted local parts of RFC 5322, and letters of any script (RFC 6531).
const localPart = /^[\p{L}\p{M}\p{N}!#$%&'*+/=?^_`{|}~-]+(?:\.[\p{L}\p{M}\p{N}!#$%&'*+/=?^_`{|}~-]+)*$/u;

/**
 * Returns the form by which addresses are compared: Unicode NFKC, lower case, the domain in ASCII. Null for an invalid
 * address.
 */
export function emailKey(email: string): string | null {
  if (email.length > maxGiven) return null;
  const text = email.normalize("NFKC").trim();
  const at = text.lastIndexOf("@");
  if (at < 1 || text.length > maxCharacters) return null;
  const local = text.slice(0, at);
  const domain = domainToASCII(text.slice(at + 1)).toLowerCase();
  const labels = domain.split(".");
  if (local.length > 64 || !localPart.test(local)) return null;
  if (labels.length < 2 || domain.length > 253 || !labels.every((part) => label.test(part))) return null;
  return `${foldCase(local)}@${domain}`;
}

/** Converts to upper case and then to lower case, so that ß equals ss. A dotless ı stays different from i. */
function foldCase(text: string): string {
  const folded = text.toLowerCase().replace(/[^ı]+/g, (part) => part.toUpperCase().toLowerCase());
  return folded.replaceAll("ς", "σ").normalize("NFKC");
}

/** Parses an address. Throws validationFailed naming the field. */
export function parseEmail(field: string, email: string): { email: string; emailKey: string } {
  const key = emailKey(email);
  if (key === null) throw invalidField(field, "must be an email address, such as ada@example.com");
  // NFKC changes full-width letters and the like to their plain form.
  return { email: email.normalize("NFKC").trim(), emailKey: key };
}

export type FromAddress = NonNullable<ReturnType<typeof parseFromAddress>>;

/** Parses `shop@example.com` or `Some shop <shop@example.com>`; null for anything else. */
export function parseFromAddress(text: string) {
  const match = /^(?:"?([^"<>]*?)"?\s*<([^<>]+)>|([^<>\s]+))$/.exec(text.trim());
  const address = (match?.[2] ?? match?.[3])?.trim();
  const key = address === undefined ? null : emailKey(address);
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must not be in a header.
  if (address === undefined || key === null || /[\x00-\x1f\x7f]/.test(text.trim())) return null;
  return { address, domain: key.slice(key.lastIndexOf("@") + 1), name: match?.[1]?.trim() ?? "" };
}
