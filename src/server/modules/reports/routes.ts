import { Type } from "@sinclair/typebox";
import { app, defineRoute, reply, staff } from "../../http/route.ts";
import { ReportQuery, SalesPeriod, Todo, TodoQuery } from "./model.ts";
import { readReport } from "./service.ts";
import { listTodo } from "./todo.ts";

export const reportRoutes = [
  defineRoute("GET", "/reports/sales/", "reportSales", {
    tag: "Orders",
    summary: "Add up what was sold and returned, by day, week or month",
    access: [app("orders:read"), staff],
    query: ReportQuery,
    reply: { data: Type.Array(SalesPeriod) },
    handle: async ({ ctx, query }) => reply(await readReport(ctx, "sales", query)),
  }),
  defineRoute("GET", "/todo/", "listTodo", {
    tag: "Orders",
    summary: "List what the store has to do; of each kind, the oldest first",
    access: [staff],
    query: TodoQuery,
    reply: { data: Type.Array(Todo) },
    handle: async ({ ctx, query }) => reply(await listTodo(ctx, query.limit ?? 20)),
  }),
];
