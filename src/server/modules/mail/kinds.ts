/** The names of the values in each kind of mail. Texts about an order contain them in the form `{order.number}`. */
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
  order_shipped: ["number", "items", "carrier", "tracking_number", "tracking_url", "rest", "link"],
  order_refunded: ["number", "items", "refund_pending", "refund_paid", "link"],
  order_cancelled: ["number", "items", "link"],
  order_expired: ["number", "items", "link"],
  order_link: ["number", "link"],
  withdrawal_received: ["number", "time", "items"],
  new_order: ["number", "items", "total", "customer"],
  needs_attention: ["number", "reason"],
  low_stock: ["items"],
  server_alert: ["message", "remedy"],
  test: [],
} as const satisfies Record<string, readonly string[]>;

export type AnyMailKind = keyof typeof mailKinds;

export type MailKind = Exclude<AnyMailKind, "test">;

export const textKinds = (Object.keys(mailKinds) as AnyMailKind[]).filter((kind) => kind !== "test");

export const orderMailKinds = [
  ...(["order_placed", "order_paid", "order_shipped", "order_refunded"] as const),
  ...(["order_cancelled", "order_expired"] as const),
];
export type OrderMailKind = (typeof orderMailKinds)[number];

/** The kinds that a store can switch off. People wait for the other mails, which have codes and receipts. */
export const optionalMailKinds = [
  ...orderMailKinds,
  ...(["new_order", "needs_attention", "low_stock", "server_alert"] as const),
];
