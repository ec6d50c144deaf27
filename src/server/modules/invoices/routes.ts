import { Type } from "@sinclair/typebox";
import { defineRoute, reply } from "../../http/route.ts";
import { IdParams } from "../../values/schema.ts";
import { visitors } from "../orders/routes.ts";
import { issueInvoices } from "./issue.ts";
import { Invoice } from "./model.ts";

export const invoiceRoutes = [
  defineRoute("POST", "/orders/:id/invoice/", "issueInvoices", {
    tag: "Orders",
    summary: "Get the invoice and the credit notes of a paid order, and issue those that are missing",
    access: visitors,
    params: IdParams,
    reply: { status: 200, data: Type.Array(Invoice) },
    errors: ["wrongState"],
    // The reply is not stored for `Idempotency-Key`, because the buyer's data would stay in it after an erasure.
    secret: true,
    handle: async ({ ctx, params }) => reply(await issueInvoices(ctx, params.id)),
  }),
];
