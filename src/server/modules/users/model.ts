import { type Static, Type } from "@sinclair/typebox";
import { idsPart, listParts, sortPart } from "../../pagination/list-query.ts";
import { countryExpects, countryPattern } from "../../values/country.ts";
import { closed, input, line, nullable, oneOf, output, patch, text, textUpTo, timestamp } from "../../values/schema.ts";

const role = oneOf(["customer", "staff", "owner"], {
  description: "Staff manage the store's records; owners also manage staff.",
});
export type Role = Static<typeof role>;
const status = oneOf(["active", "disabled"], {
  description: "A disabled user cannot log in; their token is revoked at once.",
});

const form = { format: "email" };
const email = textUpTo(254, "Unique in the store, ignoring case.", { form });
const password = textUpTo(
  1024,
  "At least 16 characters with lowercase, uppercase, digit and special character; not a common password.",
);
const passwordForm = { minLength: 16, pattern: "^[^\\x00-\\x1f\\x7f-\\x9f]*$" };
export const currentPassword = text(1024, "Current password of the user.");
export const otp = textUpTo(
  64,
  "Six digits from the authenticator, or a recovery code. Required, and not empty, if two-factor authentication is enabled.",
);
/** A new password. The schema allows an empty one, because a short password gets the error weakPassword. */
export const newPassword = Type.String({ ...password, form: passwordForm });
export const phone = Type.String({
  maxLength: 32,
  expects: "a phone number of at most 32 characters",
  form: { pattern: "^[0-9 +()-]*[0-9][0-9 +()-]*$" },
});
const name = line(200);
const addressLine = line(200);
export const country = Type.String({
  minLength: 2,
  maxLength: 2,
  form: { pattern: countryPattern },
  expects: countryExpects,
  description: "ISO 3166-1 alpha-2, in capitals.",
  examples: ["DE"],
});

export const Address = input("Address", {
  name: Type.Optional(name),
  company: Type.Optional(name),
  line1: addressLine,
  line2: Type.Optional(addressLine),
  city: addressLine,
  region: Type.Optional(addressLine),
  postal_code: Type.Optional(line(32)),
  country,
  phone: Type.Optional(phone),
  vat_id: Type.Optional(line(20, "The company's VAT id.")),
  is_default: Type.Optional(Type.Boolean({ description: "At most one address is the default." })),
});
export type Address = Static<typeof Address>;

const oneDefault = {
  contains: { properties: { is_default: { enum: [true] } }, required: ["is_default"] },
  minContains: 0,
  maxContains: 1,
};
const ownFields = {
  name: nullable(name),
  phone: nullable(phone),
  addresses: Type.Array(Address, { maxItems: 20, form: oneDefault }),
  metadata: Type.Record(textUpTo(100), Type.Unknown(), {
    description: "Any JSON object of at most 16 KiB. PATCH merges it (RFC 7396).",
  }),
};
const fields = {
  ...ownFields,
  role,
  status,
  email_verified: Type.Boolean({ description: "Whether the user has proved that the email address is theirs." }),
};

const optional = Type.Partial(
  Type.Object({
    ...fields,
    password: newPassword,
    password_hash: textUpTo(
      512,
      "Instead of `password`: a bcrypt or argon2 (PHC) hash from another system. It is replaced at the next login.",
      { form: { pattern: "^\\$(2[aby]|argon2(id|i|d))\\$" } },
    ),
  }),
);
export const UserInput = input("UserInput", { email, ...optional.properties });
export type UserInput = Static<typeof UserInput>;

export const UserPatch = patch("UserPatch", { email, ...fields });
export type UserPatch = Static<typeof UserPatch>;

/** Fields that users can change in their own record. A new email requires the current password. */
export const ProfilePatch = patch("ProfilePatch", { ...ownFields, email, password: textUpTo(1024) });
export type ProfilePatch = Static<typeof ProfilePatch>;

export const User = output("User", {
  id: Type.String({ description: "`usr_…`; sorts by creation time." }),
  email,
  pending_email: nullable(
    Type.String({ description: "Replaces `email` once the user enters the code that was mailed to it." }),
  ),
  lang: nullable(Type.String({ description: "Language of the user's mail (BCP 47). Null for the store's language." })),
  ...fields,
  two_factor_enabled: Type.Boolean(),
  last_login_at: nullable(timestamp),
  version: Type.Integer({ minimum: 1, description: "Increases by one with every write; sent as `ETag`." }),
  created_at: timestamp,
  updated_at: timestamp,
});
export type User = Static<typeof User>;

export const userFields = Object.keys(User.properties);

export const UserListQuery = closed({
  ...listParts,
  ...idsPart,
  ...sortPart(["created_at", "email"]),
  status: Type.Optional(status),
  role: Type.Optional(role),
  email: Type.Optional(textUpTo(254, "Only the user with this email, ignoring case.", { form })),
  q: Type.Optional(line(100, "Beginning of the email or the name, ignoring case.")),
});
export type UserListQuery = Static<typeof UserListQuery>;
