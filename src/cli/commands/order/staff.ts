import { wrongState } from "../../../server/errors.ts";
import { attentionKinds } from "../../../server/modules/orders/states.ts";
import { withTenant } from "../../context/context.ts";
import { limitArg } from "../../context/list-args.ts";
import { choiceArg, requiredNamespaceArg, valueArg, wordArg } from "../../framework/args.ts";
import { defineCommand } from "../../framework/command.ts";
import { invalidFlag, printList } from "../../terminal/console.ts";
import { changeAtOnce, changeOrder, type Order, order } from "./order.ts";

export const acceptCommand = defineCommand({
  description: "Record what was decided about an order that needs attention",
  args: {
    ...order.args,
    kind: choiceArg(attentionKinds, "What was decided, if the order needs attention for several reasons"),
    dismiss: { type: "boolean", description: "Nothing is done about it (default: it was accepted and done)" },
    note: valueArg("text", "Note for the records"),
  },
  examples: [
    'bodega order accept -n demo 17 --note "Sent to the customer after a call"',
    "bodega order accept -n demo 17 --kind withdrawal --dismiss",
  ],
  done: "Recorded the decision about order {number}.",
  notes: [
    "It changes nothing else: refund, cancel or fulfill the order before it. List the orders: bodega order list -n <namespace> --attention",
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
  description: "Write the note of staff on an order, which customers do not see",
  args: {
    ...order.args,
    text: wordArg("The note, which replaces the one before; - removes it", { field: "staff_note" }),
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
  description: "End all links with which a guest opens an order",
  args: order.args,
  examples: ["bodega order revoke-access -n demo 17"],
  done: "Ended the links to order {number}.",
  notes: ["The guest can ask for a new link, which is mailed to the address of the order."],
  async run(args, console) {
    const { revokeAccess } = await import("../../../server/modules/orders/guests/access-token.ts");
    await changeOrder(args, console, "End all links to order {number}?", (tx, { id }) => revokeAccess(tx, id));
  },
});

export const withdrawalsCommand = defineCommand({
  description: "List the withdrawals from contracts, newest first, also those that match no order",
  args: { namespace: requiredNamespaceArg, limit: limitArg("50") },
  examples: ["bodega order withdrawals -n demo"],
  notes: [
    "Without an order, no order has both the number and the email. Look for what was meant: bodega order list -n <namespace>",
  ],
  async run(args, console) {
    const { listWithdrawals } = await import("../../../server/modules/orders/withdrawals/withdraw.ts");
    await printList(console, await withTenant(args, console, (ctx) => listWithdrawals(ctx, args.limit)), {
      empty: "No withdrawals found.",
      columns: ["number", "order_id", "email", "name", "text", "created_at"],
      id: ({ withdrawal_id }) => withdrawal_id,
      limit: args.limit,
    });
  },
});
