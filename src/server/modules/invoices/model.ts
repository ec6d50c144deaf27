import { Type } from "@sinclair/typebox";
import { nullable, oneOf, output, timestamp } from "../../values/schema.ts";

export const Invoice = output("Invoice", {
  number: Type.Integer({ minimum: 1, description: "In the store, without gaps. Credit notes use the same series." }),
  kind: oneOf(["invoice", "credit_note"]),
  order_id: Type.String(),
  currency: Type.String({ description: "ISO 4217." }),
  total: Type.Number({ minimum: 0, description: "On a credit note, the amount that is credited." }),
  total_minor: Type.Integer({ minimum: 0 }),
  html: nullable(
    Type.String({
      description: "The page for print, as it was issued. It loads nothing from elsewhere. Null after its erasure.",
    }),
  ),
  issued_at: timestamp,
});
