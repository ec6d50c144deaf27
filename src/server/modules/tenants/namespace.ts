import { invalidField } from "../../errors.ts";

/** Lowercase letters, digits and inner hyphens, 1 to 63 characters, as in a host name. */
export const namespacePattern = "^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$";

const pattern = new RegExp(namespacePattern);

/** Whether a text is a valid name of a tenant, existing or not. */
export function isNamespace(text: string): boolean {
  return pattern.test(text);
}

/**
 * A valid name of a tenant.
 * @throws validationFailed naming `namespace`.
 */
export function parseNamespace(text: string): string {
  if (!isNamespace(text)) {
    throw invalidField("namespace", "must be 1 to 63 lowercase letters, digits or inner hyphens");
  }
  return text;
}
