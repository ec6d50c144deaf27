import { randomBytes } from "node:crypto";
import { Refusal } from "./form.ts";

/** An object of Stripe's API; replies omit `hidden`. Amounts are in Stripe's units, times in seconds. */
export interface Row extends Record<"id" | "object" | "status" | "currency", string> {
  created: number;
  amount: number;
  metadata: Record<string, string>;
  payment_intent: string | null;
  hidden?: { lines?: Line[]; intent?: object; secret?: string };
  [field: string]: unknown;
}
export type Line = Record<"description" | "currency", string> & Record<"quantity" | "amount_total", number>;
const newLists = () => ({
  ...{ webhook_endpoints: [] as Row[], "checkout/sessions": [] as Row[], payment_intents: [] as Row[] },
  ...{ charges: [] as Row[], refunds: [] as Row[], disputes: [] as Row[], events: [] as Row[], replies: [] as Row[] },
});
export type ListName = keyof ReturnType<typeof newLists>;

/**
 * `now` returns epoch milliseconds; `page` the address of the payment page, without the id of a session. `report` is
 * called for each event that Stripe would report.
 */
export type Account = { now: () => number; page: () => string; report?: (type: string, object: Row) => void };

/** The objects of an account, and the operations that change them. */
export class Books {
  readonly lists = newLists();
  readonly profile = { id: "acct_standin", object: "account", country: "DE", charges_enabled: true };
  readonly account: Account;
  constructor(account: Account) {
    this.account = account;
  }

  /** The state of new refunds, such as `pending`. */
  refundsBecome = "succeeded";
  seconds = () => Math.floor(this.account.now() / 1000);
  report = (type: string, object: Row) => this.account.report?.(type, object);

  add(list: ListName, prefix: string, fields: object): Row {
    const id = `${prefix}_${randomBytes(12).toString("hex")}`;
    const kind = { id, object: list.slice(0, -1).replace("/", "."), livemode: false };
    const row = { ...kind, created: this.seconds(), metadata: {}, ...fields } as unknown as Row;
    this.lists[list].push(row);
    return row;
  }

  find(list: ListName, id: unknown): Row {
    const found = this.lists[list].find((one) => one.id === id);
    if (found) return found;
    throw new Refusal(`No such ${list.slice(0, -1)}: '${id}'`, { param: "id", code: "resource_missing", status: 404 });
  }

  /** Expires the open sessions whose time is over. Called before each request is answered. */
  expireDue(): void {
    for (const { id, status, expires_at } of this.lists["checkout/sessions"]) {
      if (status === "open" && Number(expires_at) * 1000 <= this.account.now()) this.expire(id);
    }
  }

  private findOpen(id: string): Row {
    const session = this.find("checkout/sessions", id);
    if (session.status === "open") return session;
    throw new Refusal(`Only Checkout Sessions with a status in ["open"] can be changed, not \`${session.status}\`.`);
  }

  expire(id: string): Row {
    const session = Object.assign(this.findOpen(id), { status: "expired", url: null });
    this.report("checkout.session.expired", session);
    return session;
  }

  /**
   * Pays and completes a session, as the visitor would. With `isProcessing`, the bank decides about the payment later.
   * @throws Refusal unless the session is open.
   */
  pay(id: string, { isProcessing = false } = {}): void {
    this.expireDue();
    const session = this.findOpen(id);
    const { amount_total: amount, currency, hidden } = session;
    const fields = {
      ...hidden?.intent,
      amount,
      currency,
      amount_received: 0,
      latest_charge: null,
      status: "processing",
    };
    const intent = this.add("payment_intents", "pi", fields);
    Object.assign(session, { status: "complete", url: null, payment_intent: intent.id });
    if (!isProcessing) this.take({ session, intent });
    this.report("checkout.session.completed", session);
  }

  /** Charges the payment intent, and marks the session as paid. */
  take({ session, intent }: Record<"session" | "intent", Row>): void {
    const { id: payment_intent, amount, currency, metadata } = intent;
    const state = { status: "succeeded", amount_refunded: 0, refunded: false, disputed: false };
    const charge = this.add("charges", "ch", { ...state, amount, currency, metadata, payment_intent });
    Object.assign(intent, { status: "succeeded", amount_received: amount, latest_charge: charge.id });
    session.payment_status = "paid";
  }

  /** Refunds a payment, as the API and the dashboard do. @throws Refusal for more than was not refunded yet. */
  refund(payment_intent: string, given: { amount?: number; metadata?: object; status?: string } = {}): Row {
    const charge = this.find("charges", this.find("payment_intents", payment_intent).latest_charge);
    const left = charge.amount - Number(charge.amount_refunded);
    const { amount = left, metadata = {}, status = this.refundsBecome } = given;
    if (left === 0) throw new Refusal("The charge has been refunded.", { code: "charge_already_refunded" });
    if (amount > left || amount < 1) throw new Refusal(`Only ${left} can be refunded.`, { param: "amount" });
    const { id, currency } = charge;
    const refunded = this.add("refunds", "re", { amount, currency, charge: id, payment_intent, metadata, status });
    this.sumRefunds(charge);
    this.report("refund.created", refunded);
    this.report("charge.refunded", charge);
    return refunded;
  }

  /** Stores the sum of a charge's refunds in the charge. */
  sumRefunds(charge: Row): void {
    const counted = this.lists.refunds.filter((one) => one.charge === charge.id && !/failed|canceled/.test(one.status));
    charge.amount_refunded = counted.reduce((sum, one) => sum + one.amount, 0);
    charge.refunded = charge.amount_refunded === charge.amount;
  }
}
