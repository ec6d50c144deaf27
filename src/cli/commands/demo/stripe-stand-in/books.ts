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

/** `now` returns epoch milliseconds; `tell` is called with each event. */
type Account = { now: () => number; tell: (books: Books, event: Row) => void };

/** The objects of an account, and the operations that change them. */
export class Books {
  readonly lists = newLists();
  private readonly account: Account;
  constructor(account: Account) {
    this.account = account;
  }

  /** The state of new refunds, such as `pending`. */
  refundsBecome = "succeeded";
  seconds = () => Math.floor(this.account.now() / 1000);

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

  record(type: string, object: Row): void {
    const data = { object: structuredClone(object) };
    this.account.tell(this, this.add("events", "evt", { type, data, pending_webhooks: 0, request: null }));
  }

  /** Expires the open sessions whose time is over. Called before each request is answered. */
  expireDue(): void {
    for (const { id, status, expires_at } of this.lists["checkout/sessions"]) {
      if (status === "open" && Number(expires_at) * 1000 <= this.account.now()) this.expire(id);
    }
  }

  openSession(id: string): Row {
    const session = this.find("checkout/sessions", id);
    if (session.status === "open") return session;
    throw new Refusal(`Only Checkout Sessions with a status in ["open"] can be changed, not \`${session.status}\`.`);
  }

  expire(id: string): Row {
    const session = Object.assign(this.openSession(id), { status: "expired", url: null });
    this.record("checkout.session.expired", session);
    return session;
  }

  /** Begins a payment attempt, which is declined unless `take` follows. @throws Refusal unless the session is open. */
  attempt(id: string) {
    this.expireDue();
    const session = this.openSession(id);
    const { amount_total: amount, currency, hidden } = session;
    const status = "requires_payment_method";
    const fields = { amount, currency, amount_received: 0, latest_charge: null, ...hidden?.intent, status };
    session.payment_intent ??= this.add("payment_intents", "pi", fields).id;
    return { session, intent: this.find("payment_intents", session.payment_intent) };
  }

  /** Charges the payment intent, and marks the session as paid. */
  take({ session, intent }: Record<"session" | "intent", Row>): void {
    const { id: payment_intent, amount, currency, metadata } = intent;
    const state = { status: "succeeded", amount_refunded: 0, refunded: false, disputed: false };
    const charge = this.add("charges", "ch", { ...state, amount, currency, metadata, payment_intent });
    Object.assign(intent, { status: "succeeded", amount_received: amount, latest_charge: charge.id });
    session.payment_status = "paid";
  }

  /** Completes the session, as when the visitor pays. With `isProcessing`, the money has not arrived yet. */
  pay(id: string, { isProcessing = false } = {}): void {
    const { session, intent } = this.attempt(id);
    Object.assign(session, { status: "complete", url: null });
    if (isProcessing) intent.status = "processing";
    else this.take({ session, intent });
    this.record("checkout.session.completed", session);
  }

  /** Refunds a charge, as the API and the dashboard do. @throws Refusal if less than the amount is left. */
  refund(of: string, given: { amount?: number; metadata?: object; status?: string } = {}): Row {
    const charge = this.lists.charges.find(({ id, payment_intent }) => id === of || payment_intent === of);
    if (!charge) throw new Refusal(`No such payment_intent: '${of}'`, { code: "resource_missing", status: 404 });
    const left = charge.amount - Number(charge.amount_refunded);
    const { amount = left, metadata = {}, status = this.refundsBecome } = given;
    if (left === 0) throw new Refusal("The charge has been refunded.", { code: "charge_already_refunded" });
    if (amount > left || amount < 1) throw new Refusal(`Only ${left} can be refunded.`, { param: "amount" });
    const { id, currency, payment_intent } = charge;
    const refunded = this.add("refunds", "re", { amount, currency, charge: id, payment_intent, metadata, status });
    this.sumRefunds(charge);
    this.record("refund.created", refunded);
    this.record("charge.refunded", charge);
    return refunded;
  }

  /** Adds up the refunds of a charge anew, and stores the sum in the charge. */
  sumRefunds(charge: Row): void {
    const counted = this.lists.refunds.filter((one) => one.charge === charge.id && !/failed|canceled/.test(one.status));
    charge.amount_refunded = counted.reduce((sum, one) => sum + one.amount, 0);
    charge.refunded = charge.amount_refunded === charge.amount;
  }
}
