import { timingSafeEqual } from "node:crypto";
import type { Vault } from "../../security/vault.ts";
import { newId } from "../../values/ids.ts";

// No dot in between: an id that ends in "v2" would look like a user's token.
const form = /^vis_[0-7][0-9a-hjkmnp-tv-z]{25}-[0-9a-f]{64}$/;
const idLength = 30;

/** A visitor and their token. */
export interface NewVisitor {
  id: string;
  token: string;
}

/**
 * Creates a visitor of one tenant. Nothing is stored: the token is the id with a signature of the server, so it cannot
 * be forged and is worthless in other stores.
 */
export function mintVisitor(vault: Vault, tenantId: string): NewVisitor {
  const id = newId("vis");
  return { id, token: `${id}-${sign(vault, tenantId, id)}` };
}

/** The id in a token; null for a token that this server has not made for this tenant. */
export function readVisitor(vault: Vault, tenantId: string, token: string): string | null {
  if (!form.test(token)) return null;
  const id = token.slice(0, idLength);
  const right = Buffer.from(sign(vault, tenantId, id), "latin1");
  return timingSafeEqual(right, Buffer.from(token.slice(idLength + 1), "latin1")) ? id : null;
}

function sign(vault: Vault, tenantId: string, id: string): string {
  return vault.mac("visitor", `${tenantId}:${id}`);
}
