import { type Static, Type } from "@sinclair/typebox";
import { closed, oneOf, output, textUpTo } from "../../values/schema.ts";

export const periods = ["day", "week", "month"] as const;

const when = (description: string) => Type.Optional(textUpTo(40, description, { examples: ["2026-01", "30d"] }));

export const ReportQuery = closed({
  since: when("A year, month or day in the store's time zone, a duration such as `30d`, or a time. Default: `30d`."),
  until: when("The end, which is not included. Default: now."),
  by: Type.Optional(oneOf(periods, { default: "day" })),
});
export type ReportQuery = Static<typeof ReportQuery>;

const count = Type.Integer({ minimum: 0 });
const amount = Type.Number({ minimum: 0 });
function amounts<const Name extends string>(...names: Name[]) {
  const pairs = names.flatMap((name) => [[name, amount] as const, [`${name}_minor`, count] as const]);
  return Object.fromEntries(pairs) as Record<Name, typeof amount> & Record<`${Name}_minor`, typeof count>;
}

/** Orders count when they were paid, credits when they were made, money when it moved. */
export const SalesPeriod = output("SalesPeriod", {
  period: Type.String({ description: "The first day, `2026-01-31`; of a month, `2026-01`." }),
  currency: Type.String(),
  orders: Type.Integer({ minimum: 0, description: "Orders that were paid." }),
  pieces: count,
  ...amounts("sold", "sold_tax"),
  returned_pieces: count,
  ...amounts("returned", "returned_tax", "received", "refunded"),
});
