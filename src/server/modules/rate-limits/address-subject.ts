import type { Vault } from "../../security/vault.ts";
import { addressGroup } from "../../values/ip-prefix.ts";

/** Half of a hash is enough to tell subjects apart. */
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
 * The name under which calls from an address are counted in the database, which holds no addresses. Servers without the
 * key share their limits under a plain hash, from which an address can be guessed by trying all.
 * @param address of the caller; null for one that is not known, which all such callers share.
 * @param scope what else the count is about, such as a store.
 */
export function addressSubject(vault: Vault, address: string | null, scope = ""): string {
  const text = `address ${scope} ${addressGroup(address ?? "unknown")}`;
  return hideSubject(vault, text) ?? Bun.SHA256.hash(text, "hex").slice(0, shownDigits);
}
