import { attempt } from "./attempt.ts";

// Secrets of app keys, users, registrations and visitors, and tokens of guests' orders in links.
const secret = /(sk_|v2\.|rsec_|vis_[0-9a-z]{26}-|ord_[0-9a-z]{26}\W)[A-Za-z0-9_-]{43,}/i;
const everySecret = new RegExp(secret, "gi");

export function holdsSecret(text: string): boolean {
  return text.length >= 46 && secret.test(text);
}

/** Masks secrets in a text, also percent-encoded ones. */
export function maskSecrets(text: string): string {
  const plain = !text.includes("%") || holdsSecret(text) ? text : decoded(text);
  return holdsSecret(plain) ? plain.replace(everySecret, "$1…") : text;
}

function decoded(text: string): string {
  return text.replace(/(?:%[0-9a-f]{2})+/gi, (run) => attempt(() => decodeURIComponent(run)) ?? run);
}
