import { wrongState } from "../../../server/errors.ts";
import type { Withdrawal } from "../../../server/modules/orders/model.ts";
import { attentionKinds } from "../../../server/modules/orders/states.ts";
import { limitArg } from "../../context/list-args.ts";
import { defineList } from "../../context/store-command.ts";
import { choiceArg, valueArg, wordArg } from "../../framework/args.ts";
import { defineCommand } from "../../framework/command.ts";
import { invalidFlag } from "../../terminal/console.ts";
import { changeAtOnce, changeOrder, type Order, order } from "./order.ts";

export const acceptCommand = defineCommand({
  description: "Record what was decided about an order that needs attention",
  args: {
    ...order.args,
    kind: choiceArg(attentionKinds, "Reason for attention to decide about; required if the order has several"),
    dismiss: { type: "boolean", description: "Record that staff decided to do nothing (default: that staff acted)" },
    note: valueArg("text", "Note for the records"),
  },
  examples: ['bodega order accept -n demo 17 --kind withdrawal --note "Sent to the customer after a call"'],
  done: "Recorded the decision about order {number}.",
  notes: [
    "The command only records the decision: refund, cancel or fulfill the order first. List the orders: bodega order list -n <namespace> --attention",
  ],
  async run(args, console) {
    const { resolveAttention } = await import("../../../server/modules/orders/attention/attention.ts");
    const { kind, dismiss, note = null } = args;
    await changeAtOnce(args, console, async (tx, of) => {
      const action = dismiss ? "dismiss" : "accept";
      await resolveAttention(tx, of.id, { kind: kind ?? onlyKind(of), action, note });
    });
  },
});

function onlyKind({ id, needs_attention: kinds = [] }: Order) {
  const [only, ...others] = kinds;
  if (only === undefined) throw wrongState(`Order ${id} does not need attention.`);
  if (others.length > 0) throw invalidFlag("--kind", `is required: the order needs attention for ${kinds.join(", ")}`);
  return only;
}

export const noteCommand = defineCommand({
  description: "Write a note for staff on an order; customers do not see it",
  args: {
    ...order.args,
    text: wordArg("New note, which replaces the previous one; - removes the note", { field: "staff_note" }),
  },
  examples: ['bodega order note -n demo 17 "Called on Monday: deliver to the neighbour"'],
  done: "Changed the note of order {number}.",
  async run(args, console) {
    const { correctOrder } = await import("../../../server/modules/orders/correct.ts");
    await changeAtOnce(args, console, (tx, { id }) =>
      correctOrder(tx, id, { staff_note: args.text === "-" ? null : args.text }),
    );
  },
});

export const revokeAccessCommand = defineCommand({
  description: "Revoke all links that open a guest's order",
  args: order.args,
  examples: ["bodega order revoke-access -n demo 17"],
  done: "Revoked the links to order {number}.",
  notes: ["The guest can ask for a new link, which is mailed to the address of the order."],
  async run(args, console) {
    const { revokeAccess } = await import("../../../server/modules/orders/correct.ts");
    await changeOrder(args, console, "Revoke all links to order {number}?", (tx, { id }) => revokeAccess(tx, id));
  },
});

export const withdrawalsCommand = defineList({
  description: "List withdrawals from contracts, newest first, including those without an order",
  args: { limit: limitArg("50") },
  examples: ["bodega order withdrawals -n demo"],
  notes: [
    "If no order has the number and email that the buyer entered, the withdrawal is listed without an order. Find the right order: bodega order list -n <namespace>",
  ],
  async rows(ctx, { limit }) {
    const { listWithdrawals } = await import("../../../server/modules/orders/withdrawals/withdraw.ts");
    const rows = JSON.parse((await listWithdrawals(ctx, { limit })).json) as Withdrawal[];
    return rows.map(({ id, ...row }) => ({ withdrawal_id: id, ...row }));
  },
  empty: "No withdrawals found.",
  columns: ["number", "order_id", "email", "name", "text", "created_at"],
  id: ({ withdrawal_id }) => withdrawal_id,
});
