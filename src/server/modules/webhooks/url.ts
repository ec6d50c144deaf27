import { invalidField } from "../../errors.ts";

const maxLength = 2000;

/**
 * The address of a webhook in its usual form.
 * @throws validationFailed naming `url`: it must be https, or http where private addresses are allowed, without
 * credentials and fragment.
 */
export function parseWebhookUrl(given: string, allowPrivate: boolean): string {
  const url = given.length <= maxLength && URL.canParse(given) ? new URL(given) : undefined;
  const isWeb = url?.protocol === "https:" || url?.protocol === "http:";
  if (!url || !isWeb) throw invalidField("url", `must be an address such as https://example.com/hooks`);
  if (url.protocol === "http:" && !allowPrivate) {
    throw invalidField("url", "must be https; http is only for private addresses, which must be allowed");
  }
  if (url.username !== "" || url.password !== "") throw invalidField("url", "must not contain a user name or password");
  if (url.hash !== "") throw invalidField("url", "must not contain #");
  return url.href;
}
