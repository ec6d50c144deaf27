import { Type } from "@sinclair/typebox";
import { app, defineRoute, reply, staff } from "../../http/route.ts";
import { ReportQuery, SalesPeriod } from "./model.ts";
import { readReport } from "./service.ts";

export const reportRoutes = [
  defineRoute("GET", "/reports/sales/", "reportSales", {
    tag: "Orders",
    summary: "Add up what was sold and returned, by day, week or month",
    access: [app("orders:read"), staff],
    query: ReportQuery,
    reply: { data: Type.Array(SalesPeriod) },
    handle: async ({ ctx, query }) => reply(await readReport(ctx, "sales", query)),
  }),
];
