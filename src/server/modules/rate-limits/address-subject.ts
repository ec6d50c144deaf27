import type { Vault } from "../../security/vault.ts";
import { addressGroup } from "../../values/ip-prefix.ts";

/** Half of a hash tells subjects apart as well. */
const shownDigits = 32;

/** A subject of a limit as the database may hold it: a keyed hash; null at a server that does not have the key. */
export function hideSubject(vault: Vault, text: string): string | null {
  try {
    return vault.mac("limit", text).slice(0, shownDigits);
  } catch {
    return null;
  }
}

/**
 * What calls from an address are counted under in the database, where no address stands. Servers without the key share
 * their limits under a plain hash: whoever has the database could find an address by trying all there are.
 * @param address of the caller; null for one that is not known, which all such callers share.
 * @param scope what else the count is about, such as a store.
 */
export function addressSubject(vault: Vault, address: string | null, scope = ""): string {
  const text = `address ${scope} ${addressGroup(address ?? "unknown")}`;
  return hideSubject(vault, text) ?? Bun.SHA256.hash(text, "hex").slice(0, shownDigits);
}
