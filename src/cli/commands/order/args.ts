import type { Ctx } from "../../../server/context.ts";
import type { OrderFilter } from "../../../server/modules/orders/views.ts";
import type { ArgValues, CommandArgs } from "../../framework/args.ts";
import { readPastTime, sinceArg, untilArg, userFilterArg } from "../../framework/list-args.ts";

/** Flags that filter orders by status, customer and age. */
export const orderFilterFlags = {
  status: {
    type: "enum",
    options: ["pending", "paid", "completed", "cancelled", "expired"],
    description: "Filter by status",
  },
  "payment-status": {
    type: "enum",
    options: ["unpaid", "paid", "partially_refunded", "refunded"],
    description: "Filter by payment status",
  },
  customer: userFilterArg,
  since: sinceArg,
  until: untilArg,
} as const satisfies CommandArgs;

/**
 * The filter for the service, without the customer, who needs `resolveCustomer`.
 * @throws UsageError for a wrong time.
 */
export function readOrderFilter(args: ArgValues<typeof orderFilterFlags>, now: number): OrderFilter {
  const { status, "payment-status": payment_status } = args;
  const since = readPastTime("--since", args.since, now);
  const until = readPastTime("--until", args.until, now);
  return {
    ...(status !== undefined && { status }),
    ...(payment_status !== undefined && { payment_status }),
    ...(since !== undefined && { "created_at[gte]": since }),
    ...(until !== undefined && { "created_at[lt]": until }),
  };
}

/** The filter for a customer. Errors: notFound for an unknown email. */
export async function resolveCustomer(ctx: Ctx, customer: string | undefined): Promise<{ customer_id?: string }> {
  if (customer === undefined) return {};
  const { resolveUserId } = await import("../../../server/modules/users/resolve.ts");
  // Orders outlive their users, so an id need not exist.
  return { customer_id: customer.includes("@") ? await resolveUserId(ctx, customer) : customer };
}
