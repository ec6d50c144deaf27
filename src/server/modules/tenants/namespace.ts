import { invalidField } from "../../errors.ts";

/** Lower-case letters, digits and inner hyphens, 1 to 63 characters: what fits a host name. */
export const namespacePattern = "^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$";

const pattern = new RegExp(namespacePattern);

/** Whether a text can be the name of a tenant; says nothing about whether there is one. */
export function isNamespace(text: string): boolean {
  return pattern.test(text);
}

/**
 * A tenant's name as it stands in every request.
 * @throws validationFailed naming `namespace`.
 */
export function parseNamespace(text: string): string {
  if (!isNamespace(text)) {
    throw invalidField("namespace", "must be 1 to 63 lower-case letters, digits or inner hyphens");
  }
  return text;
}
