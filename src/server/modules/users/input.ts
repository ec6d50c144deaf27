import { invalidField } from "../../errors.ts";
import { countryExpects, isCountry } from "../../values/country.ts";
import { parseEmail } from "../../values/email.ts";
import { metadataText, requireText } from "../../values/fields.ts";
import { parseLanguage } from "../tenants/input.ts";
import type { Address, UserPatch } from "./model.ts";
import type { users } from "./table.ts";

type Row = typeof users.$inferSelect;

export type UserColumns = Partial<
  Pick<Row, "email" | "emailKey" | "name" | "nameKey" | "phone" | "lang" | "role" | "status" | "addresses"> &
    Pick<Row, "metadata" | "pendingEmail" | "emailVerified" | "isUnproven">
>;

export type UserFields = UserPatch & { lang?: string | undefined };

export function userColumns(input: UserFields): UserColumns {
  const columns: UserColumns = {};
  if (input.email !== undefined) Object.assign(columns, parseEmail("email", input.email));
  if (input.name !== undefined) {
    columns.name = input.name === null ? null : requireText("name", input.name, 200);
    columns.nameKey = columns.name && nameKey(columns.name);
  }
  if (input.phone !== undefined) columns.phone = input.phone === null ? null : phoneNumber("phone", input.phone);
  if (input.lang !== undefined) columns.lang = parseLanguage("lang", input.lang);
  if (input.role !== undefined) columns.role = input.role;
  if (input.status !== undefined) columns.status = input.status;
  if (input.email_verified !== undefined) columns.emailVerified = input.email_verified;
  if (input.addresses !== undefined) columns.addresses = addressesText(input.addresses);
  if (input.metadata !== undefined) columns.metadata = metadataText(input.metadata);
  return columns;
}

/** Returns the form of a name that searches compare: normalized (NFKC) and in lower case. */
export function nameKey(name: string): string {
  return name.normalize("NFKC").toLowerCase();
}

export function phoneNumber(field: string, value: string): string {
  if (value.length > 32 || !/^[\d +()-]+$/.test(value) || !/\d/.test(value)) {
    throw invalidField(field, "must be at most 32 digits, spaces, +, - and parentheses");
  }
  return value;
}

function addressesText(addresses: readonly Address[]): string {
  const [, second] = addresses.flatMap((address, index) => (address.is_default ? [index] : []));
  if (second !== undefined)
    throw invalidField(`addresses.${second}.is_default`, "is already set on an earlier address");
  const checked = addresses.map((address, index) => ({
    ...postalAddress(`addresses.${index}`, address),
    ...(address.is_default !== undefined && { is_default: address.is_default }),
  }));
  return JSON.stringify(checked);
}

const addressLines = { name: 200, company: 200, line1: 200, line2: 200, city: 200, region: 200, postal_code: 32 };

/** Returns a validated postal address with its fields in a fixed order. Errors: validationFailed. */
export function postalAddress(field: string, address: Omit<Address, "is_default">): Omit<Address, "is_default"> {
  const { line1, city, country, phone, vat_id: vatId } = address;
  const lines = Object.entries(addressLines).flatMap(([name, most]) => {
    const value = address[name as keyof typeof addressLines];
    return value === undefined ? [] : [[name, requireText(`${field}.${name}`, value, most)]];
  });
  if (!isCountry(country)) throw invalidField(`${field}.country`, `must be ${countryExpects}`);
  return {
    ...{ line1, city, ...Object.fromEntries(lines), country },
    ...(phone !== undefined && { phone: phoneNumber(`${field}.phone`, phone) }),
    ...(vatId !== undefined && { vat_id: requireText(`${field}.vat_id`, vatId, 20) }),
  };
}
