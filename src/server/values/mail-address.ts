import { emailKey } from "../modules/users/email.ts";

/** Who mail comes from. */
export interface FromAddress {
  address: string;
  /** The part behind the `@`, in ASCII. */
  domain: string;
  /** What stood before the address; the store's title takes its place where it has one. */
  name: string;
}

/** Reads `shop@example.com` or `Some shop <shop@example.com>`; null for anything else. */
export function parseFromAddress(text: string): FromAddress | null {
  const match = /^(?:"?([^"<>]*?)"?\s*<([^<>]+)>|([^<>\s]+))$/.exec(text.trim());
  const address = (match?.[2] ?? match?.[3])?.trim();
  const key = address === undefined ? null : emailKey(address);
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must not be in a header.
  if (address === undefined || key === null || /[\x00-\x1f\x7f]/.test(text.trim())) return null;
  return { address, domain: key.slice(key.lastIndexOf("@") + 1), name: match?.[1]?.trim() ?? "" };
}
