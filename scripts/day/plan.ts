import type { Desk, Sale } from "./sales.ts";
import type { Customer } from "./shop.ts";

type Scenario = (desk: Desk, customer: Customer | undefined) => Promise<Sale>;

/** Returns a scenario: a buyer pays by card, Stripe's call arrives as `how` says, and then `after` runs. */
const byCard =
  (
    how: Parameters<Desk["payByCard"]>[1],
    after: (desk: Desk, sale: Sale) => Promise<unknown> = async () => {},
  ): Scenario =>
  async (desk, customer) => {
    const sale = await desk.place("stripe", customer);
    await desk.payByCard(sale, how);
    await after(desk, sale);
    return sale;
  };

const byTransfer =
  (after: (desk: Desk, sale: Sale) => Promise<unknown>): Scenario =>
  async (desk, customer) => {
    const sale = await desk.place("manual", customer);
    await after(desk, sale);
    return sale;
  };

const shipped = (desk: Desk, sale: Sale) => desk.ship(sale);

async function returned(desk: Desk, sale: Sale): Promise<void> {
  await desk.ship(sale);
  await desk.refundLine(sale, true);
  await desk.refund(sale, { amount: 1.5, reason: "Sorry" });
}

async function withdrawn(desk: Desk, sale: Sale): Promise<void> {
  const { number, email } = sale;
  await desk.ship(sale);
  const page = { auth: desk.shop.pageAuth };
  await desk.must("POST /orders/withdrawals/", { number, email, name: "Buyer", text: "I changed my mind" }, page);
  const lines = sale.items.map(({ id, quantity }) => ({ line_id: id, quantity, returned: true }));
  await desk.refund(sale, { lines, restock: true });
  await desk.must(`POST /orders/${sale.id}/attention/`, { kind: "withdrawal", action: "accept" }, desk.staff);
}

const disputed = (end: "lost" | "won") => async (desk: Desk, sale: Sale) => {
  const { payments } = await desk.read(sale);
  const dispute = desk.stripe.dispute(String(payments[0]?.reference));
  await desk.tell(dispute);
  desk.stripe.moveDispute(dispute.id, end);
  await desk.tell(dispute, "twice");
};

/** Staff refund a part on Stripe's page. The calls about the refund and the payment arrive in the wrong order. */
async function refundedThere(desk: Desk, customer: Customer | undefined): Promise<Sale> {
  const sale = await desk.place("stripe", customer);
  const session = await desk.payByCard(sale, "late");
  const webhooks = desk.late.splice(0);
  const refund = desk.stripe.refundInDashboard(String(session.payment_intent), 100);
  await desk.tell(refund, "late");
  for (const webhook of [...desk.late.splice(0).reverse(), ...webhooks]) await desk.deliver(webhook);
  const body = { kind: "refund_unassigned", action: "accept" };
  await desk.must(`POST /orders/${sale.id}/attention/`, body, desk.staff);
  return sale;
}

async function cancelled(desk: Desk, customer: Customer | undefined): Promise<Sale> {
  const sale = await desk.place(desk.pick(["stripe", "manual"] as const), customer);
  await desk.must(`POST /orders/${sale.id}/cancel/`, undefined, sale.buyer);
  return sale;
}

const times = (count: number, name: string, scenario: Scenario) =>
  Array.from({ length: count }, (): [string, Scenario] => [name, scenario]);

async function paidAndShipped(desk: Desk, sale: Sale): Promise<void> {
  await desk.payByTransfer(sale);
  await desk.ship(sale);
}

async function paidTwice(desk: Desk, sale: Sale): Promise<void> {
  await desk.payByTransfer(sale, 500);
  await desk.payByTransfer(sale, sale.total_minor - 500);
  await desk.refundLine(sale, false);
}

async function paidInPart(desk: Desk, sale: Sale): Promise<void> {
  await desk.payByTransfer(sale, 500);
  await desk.must(`POST /orders/${sale.id}/cancel/`, undefined, desk.staff);
}

const refundAll = (desk: Desk, sale: Sale) => desk.refund(sale, { restock: true });
const wait = async () => {};

/** The scenarios of the thirty orders, with their names. */
export const plan: [name: string, Scenario][] = [
  ...times(4, "card, sent in parts", byCard("once", shipped)),
  ...times(2, "card, pieces came back", byCard("twice", returned)),
  ...times(2, "card, the call comes late", byCard("late")),
  ...times(2, "card, the call is lost", byCard("lost")),
  ...times(1, "card, the call is forged", byCard("forged")),
  ...times(2, "card, refunded at Stripe, calls out of order", refundedThere),
  ...times(2, "card, refunded in whole", byCard("once", refundAll)),
  ...times(2, "card, withdrawn", byCard("twice", withdrawn)),
  ...times(1, "card, disputed and lost", byCard("once", disputed("lost"))),
  ...times(1, "card, disputed and won", byCard("once", disputed("won"))),
  ...times(3, "transfer, sent", byTransfer(paidAndShipped)),
  ...times(1, "transfer in two parts, a line refunded before it is sent", byTransfer(paidTwice)),
  ...times(1, "transfer in part, cancelled by staff", byTransfer(paidInPart)),
  ...times(2, "transfer, comes after expiry", byTransfer(wait)),
  ...times(2, "transfer, never comes", byTransfer(wait)),
  ...times(2, "cancelled by the buyer", cancelled),
];
