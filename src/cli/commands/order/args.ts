import type { Ctx } from "../../../server/context.ts";
import type { OrderDocument, OrderFilter, OrderView } from "../../../server/modules/orders/views.ts";
import { formatMinor } from "../../../server/values/money.ts";
import { type ArgValues, type CommandArgs, type FlagArg, namespaceArg } from "../../framework/args.ts";
import { parsePastTime } from "../../framework/parse-values.ts";

/** The store whose orders a command is about. */
export const orderNamespaceArg = { ...namespaceArg, required: true } as const satisfies FlagArg;

/** Flags that choose orders by state, customer and age. */
export const orderFilterFlags = {
  status: {
    type: "enum",
    options: ["pending", "paid", "completed", "cancelled", "expired"],
    description: "Only those of this status",
  },
  "payment-status": {
    type: "enum",
    options: ["unpaid", "paid", "partially_refunded", "refunded"],
    description: "Only those whose payment stands so",
  },
  customer: {
    type: "string",
    valueHint: "id|email",
    completes: "user",
    description: "Only those of this user",
  },
  since: {
    type: "string",
    valueHint: "duration|time",
    description: "Not older: 7d, 2030-01-31, or 2030-01-31T12:00:00Z",
  },
  until: { type: "string", valueHint: "duration|time", description: "Only older than this" },
} as const satisfies CommandArgs;

/**
 * The same as the service takes them; the customer is found by `resolveCustomer`.
 * @throws UsageError for a time that is none.
 */
export function readOrderFilter(
  { status, since, until, "payment-status": payment_status }: ArgValues<typeof orderFilterFlags>,
  now: number,
): OrderFilter {
  return {
    ...(status !== undefined && { status }),
    ...(payment_status !== undefined && { payment_status }),
    ...(since !== undefined && { "created_at[gte]": readMoment("--since", since, now) }),
    ...(until !== undefined && { "created_at[lt]": readMoment("--until", until, now) }),
  };
}

/**
 * Whose orders are meant, as the service takes it.
 * @throws notFound for an email that is nobody's.
 */
export async function resolveCustomer(ctx: Ctx, customer: string | undefined): Promise<{ customer_id?: string }> {
  if (customer === undefined) return {};
  const { resolveUserId } = await import("../../../server/modules/users/resolve.ts");
  // Orders outlive their users, whose ids are then all that is left of them.
  return { customer_id: customer.includes("@") ? await resolveUserId(ctx, customer) : customer };
}

/** A day stands for its beginning, in UTC. */
function readMoment(flag: string, text: string, now: number): string {
  const isDay = /^\d{4}-\d{2}-\d{2}$/.test(text);
  return parsePastTime(flag, isDay ? `${text}T00:00:00Z` : text, now);
}

/** An order as the terminal prints it: the API's record, with the id named as everywhere in the terminal. */
export type OrderRecord = { order_id: string; customer_email: string | null } & Omit<OrderDocument, "id">;

/** The terminal's record of an order. */
export function toOrderRecord({ order, customerEmail }: OrderView): OrderRecord {
  const { id, ...rest } = order;
  return { order_id: id, customer_email: customerEmail, ...rest };
}

/** An amount with all decimals of its currency, and the store's sign or the currency's code: `€19.90`, `KWD 1.500`, `19.90 USD`. */
export function formatAmount(minor: number, { order, digits, sign }: OrderView): string {
  const amount = formatMinor(minor, digits);
  if (sign === null) return `${amount} ${order.currency}`;
  return /\p{L}$/u.test(sign) ? `${sign} ${amount}` : `${sign}${amount}`;
}

/** Whose order it is: an email, `guest`, or the id of a user that is no more. */
export function formatCustomer({ order, customerEmail }: OrderView): string {
  return customerEmail ?? order.user_id ?? "guest";
}
