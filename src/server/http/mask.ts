// App secrets, user tokens, the secrets of registrations and the signatures of visitors.
const secret = /(sk_|v2\.|rsec_|vis_[0-9a-z]{26}-)[A-Za-z0-9_-]{43,}/;
const everySecret = new RegExp(secret, "g");

/** Whether a text holds what looks like a secret of ours, sent by mistake where none belongs. */
export function holdsSecret(text: string): boolean {
  return text.length >= 46 && secret.test(text);
}

/** The text without such secrets, for the log. */
export function maskSecrets(text: string): string {
  return holdsSecret(text) ? text.replace(everySecret, "$1…") : text;
}
