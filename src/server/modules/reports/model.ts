import { type Static, Type } from "@sinclair/typebox";
import { listParts } from "../../pagination/list-query.ts";
import { closed, nullable, oneOf, output, textUpTo, timestamp } from "../../values/schema.ts";
import { amounts, count } from "../orders/model.ts";

export const periods = ["day", "week", "month"] as const;

const when = (description: string) => Type.Optional(textUpTo(40, description, { examples: ["2026-01", "30d"] }));

export const ReportQuery = closed({
  since: when("A year, month or day in the store's time zone, a duration such as `30d`, or a time. Default: `30d`."),
  until: when("The end, which is not included. Default: now."),
  by: Type.Optional(oneOf(periods, { default: "day" })),
});
export type ReportQuery = Static<typeof ReportQuery>;

export const TodoQuery = closed({ limit: listParts.limit });
const todoKinds = [
  ...(["unpaid_transfer", "to_ship", "attention", "low_stock", "failed_mail", "unknown_withdrawal"] as const),
];
export type TodoKind = (typeof todoKinds)[number];

export const Todo = output("Todo", {
  kind: oneOf(todoKinds),
  id: Type.String({ description: "Id of the order, product, mail or withdrawal." }),
  subject: Type.String({ description: "Number of the order, SKU or slug of the item, or id of the mail." }),
  detail: nullable(
    Type.String({ description: "The amount due, what needs attention, the title, the error or the sender." }),
  ),
  count: nullable(Type.Integer({ description: "Pieces to ship, or available pieces." })),
  since: timestamp,
});
export type Todo = Static<typeof Todo>;

/** A period contains the orders that were paid in it, the payments received in it, and the refunds made in it. */
export const SalesPeriod = output("SalesPeriod", {
  period: Type.String({ description: "The first day, `2026-01-31`; of a month, `2026-01`." }),
  currency: Type.String(),
  orders: Type.Integer({ minimum: 0, description: "Orders that were paid." }),
  pieces: count,
  ...amounts("sold", "sold_tax"),
  returned_pieces: count,
  ...amounts("returned", "returned_tax", "received", "refunded"),
});
