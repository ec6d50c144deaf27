/** What each mail must be told, by name: the placeholders of its templates beside those of the store. */
export const mailKinds = {
  reset_code: ["code"],
  password_changed: [],
  email_changed: [],
  two_factor_changed: [],
  test: [],
} as const satisfies Record<string, readonly string[]>;

/** A mail of any kind, the one that only tries the way included. */
export type AnyMailKind = keyof typeof mailKinds;

/** A mail that something in a store gives rise to. */
export type MailKind = Exclude<AnyMailKind, "test">;
