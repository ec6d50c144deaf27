/** The values that each kind of mail needs: the placeholders of its templates besides those of the store. */
export const mailKinds = {
  reset_code: ["code"],
  login_code: ["code"],
  invitation: ["code"],
  sign_up_code: ["code"],
  account_exists: [],
  email_code: ["code"],
  email_change_requested: [],
  password_changed: [],
  email_changed: [],
  two_factor_changed: [],
  test: [],
} as const satisfies Record<string, readonly string[]>;

/** A mail of any kind, test mail included. */
export type AnyMailKind = keyof typeof mailKinds;

/** A mail about an event in a store. */
export type MailKind = Exclude<AnyMailKind, "test">;
