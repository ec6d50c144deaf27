import type { TodoKind } from "../../../server/modules/reports/model.ts";
import { quoteWord } from "../../../server/values/shell-quote.ts";
import { withTenant } from "../../context/context.ts";
import { limitArg } from "../../context/list-args.ts";
import { requiredNamespaceArg } from "../../framework/args.ts";
import { defineCommand } from "../../framework/command.ts";
import { printList } from "../../terminal/console.ts";

/** For each kind of task, the command to run next, without the program's name. */
const nextOf: Record<TodoKind, (subject: string) => string> = {
  unpaid_transfer: (subject) => `order pay ${subject}`,
  to_ship: (subject) => `order fulfill ${subject}`,
  attention: (subject) => `order show ${subject}`,
  low_stock: (subject) => `product show ${subject}`,
  failed_mail: (subject) => `mail retry ${subject}`,
  unknown_withdrawal: () => "order withdrawals",
};

export default defineCommand({
  description: "List the tasks of a store, each with the next command",
  args: { namespace: requiredNamespaceArg, limit: limitArg("20", 1000) },
  examples: ["bodega todo -n demo"],
  notes: [
    "The list has unpaid bank transfers, orders to ship, orders that need attention (see bodega order accept), items whose " +
      "stock is at or below --low-stock-at of the store, mail that failed, and withdrawals of the last two weeks that match no " +
      "order. --limit applies to each kind.",
  ],
  async run({ limit, ...args }, console) {
    const { listTodo } = await import("../../../server/modules/reports/todo.ts");
    const found = await withTenant(args, console, (ctx) => listTodo(ctx, limit));
    const store = (kind: TodoKind) => (kind === "failed_mail" ? "" : ` -n ${args.namespace}`);
    const rows = found.map((row) => {
      return { ...row, next: console.command(`${nextOf[row.kind](quoteWord(row.subject))}${store(row.kind)}`) };
    });
    await printList(console, rows, {
      id: ({ subject }) => subject,
      empty: "Nothing to do.",
      columns: [
        "next",
        { header: "KIND", value: ({ kind }) => kind.replace("_", " ") },
        { header: "DETAIL", value: ({ detail, count }) => [detail, count].filter((one) => one !== null).join(": ") },
        "since",
      ],
    });
  },
});
