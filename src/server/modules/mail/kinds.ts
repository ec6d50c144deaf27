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
  order_placed: ["number", "items", "total", "instructions", "reference", "link"],
  order_paid: ["number", "items", "total", "link"],
  order_link: ["number", "link"],
  withdrawal_received: ["number", "time", "items"],
  test: [],
} as const satisfies Record<string, readonly string[]>;

export type AnyMailKind = keyof typeof mailKinds;

export type MailKind = Exclude<AnyMailKind, "test">;
