import type { Ctx } from "../../src/server/context.ts";
import type { Database } from "../../src/server/db/session.ts";
import { expireDueOrders } from "../../src/server/modules/orders/expiry.ts";
import { type PaymentDeps, pollEvents, readDueCheckouts } from "../../src/server/modules/payments/jobs.ts";
import { createRefundEngine } from "../../src/server/modules/payments/refund-delivery.ts";
import { connectStripe } from "../../src/server/modules/payments/stripe/connect.ts";
import { startTestApp, type TestApp, vault } from "./app.ts";
import type { TestDatabase } from "./backend.ts";
import { createClient } from "./client.ts";
import type { FakeClock } from "./clock.ts";
import { createShop, type Shop, tenantContext } from "./factories.ts";
import { createMortal, type Mortal } from "./mortal-database.ts";
import { type OrderReply, unlimitedOrders } from "./orders.ts";
import { returnUrls, stripeKey } from "./pay-shop.ts";
import { findInconsistencies } from "./record-check.ts";
import { type Stripe, startStripe } from "./stripe.ts";

/** A process of the server: its API and its jobs, which end together. */
interface Worker {
  app: TestApp;
  mortal: Mortal;
  deps: PaymentDeps;
  refunds: ReturnType<typeof createRefundEngine>;
}

/** The processes that all histories of one database share. */
export interface Stage {
  database: TestDatabase;
  clock: FakeClock;
  workers: Worker[];
  payments: NonNullable<Ctx["payments"]>;
  close: () => Promise<void>;
}

/** Starts the processes of a server with one database. */
export async function openStage(database: TestDatabase, clock: FakeClock, processes: number): Promise<Stage> {
  const payments: NonNullable<Ctx["payments"]> = { timeoutMs: 2000 };
  const startWorker = (db: Database): Worker => {
    const mortal = createMortal(db);
    const app = startTestApp({ db: mortal.db, clock, payments });
    const deps = { db: mortal.db, vault, now: clock.now, payments };
    return { app, mortal, deps, refunds: createRefundEngine(deps) };
  };
  const workers = [startWorker(database.db)];
  for (let index = 1; index < processes; index++) workers.push(startWorker(await database.openAgain()));
  const close = async () => {
    for (const { app, refunds, mortal } of workers) {
      mortal.revive();
      await refunds.stop();
      await app.stop();
    }
  };
  return { database, clock, workers, payments, close };
}

const minute = 60_000;
const stock = 3;

/** One history: a store, a few orders of a scarce product, and random events for them. */
export async function runHistory(stage: Stage, random: () => number, steps: number): Promise<string[]> {
  const { clock, payments } = stage;
  const stripe = await startStripe({ now: clock.now });
  payments.stripeUrl = stripe.url;
  payments.publicUrl = stage.workers[0]?.app.url;
  stripe.delivery = "held";
  const [{ app }] = stage.workers as [Worker];
  const shop = await createShop(app, { tenant: unlimitedOrders });
  const history = new History(stage, { stripe, shop, random });
  try {
    await connectStripe({ ...(await tenantContext(shop)), payments }, { key: stripeKey });
    history.product = (await shop.createProduct({ price: 10, stock, requires_shipping: false })).id;
    await history.begin();
    for (let step = 0; step < steps; step++) await history.step();
    await history.rest();
    await history.check();
    return history.log;
  } catch (error) {
    throw new Error(`${(error as Error).stack}\n${history.log.join("\n")}`);
  } finally {
    for (const { mortal } of stage.workers) mortal.revive();
    await stage.database.db.execute("delete from payment_accounts");
    await stage.database.db.execute(
      "update checkouts set next_check_at = null, state = iif(state = 'open', 'failed', state)",
    );
    await stripe.stop();
  }
}

class History {
  readonly log: string[] = [];
  product = "";
  readonly #stage: Stage;
  readonly #stripe: Stripe;
  readonly #shop: Shop;
  readonly #random: () => number;
  readonly #orders: string[] = [];
  /** Sessions whose address a buyer knows. */
  readonly #known = new Set<string>();
  /** Webhook calls to which Stripe has received no 200, and lost calls. */
  readonly #answered = new Set<number>();
  readonly #tampered = new Set<string>();
  /** Pending orders whose payment is being decided. */
  #waiting = new Set<string>();

  constructor(stage: Stage, { stripe, shop, random }: { stripe: Stripe; shop: Shop; random: () => number }) {
    this.#stage = stage;
    this.#stripe = stripe;
    this.#shop = shop;
    this.#random = random;
  }

  #below(count: number): number {
    return Math.floor(this.#random() * count);
  }

  #pick<T>(list: readonly T[]): T | undefined {
    return list[this.#below(list.length)];
  }

  get #worker(): Worker {
    return this.#pick(this.#stage.workers) as Worker;
  }

  /** Calls the API at one of the processes. A killed process does not answer. */
  async #call<T = OrderReply>(request: string, body?: object) {
    const worker = this.#worker;
    const { auth, namespace } = this.#shop;
    const reply = await createClient(worker.app, { namespace, auth })<T>(request, body ? { body: body as never } : {});
    this.log.push(
      `  ${request.replace(/_\w+/g, "")} ${JSON.stringify(body ?? {}).slice(0, 80)} -> ${reply.status} ${reply.code ?? ""}`,
    );
    const isOurs = reply.status === 500 && !this.#stage.workers.some(({ mortal }) => mortal.isDead);
    if (isOurs) throw new Error(`The server failed: ${reply.text}`);
    return reply;
  }

  /** Most histories begin with an open payment page, because most events need one. */
  async begin(): Promise<void> {
    await this.place();
    if (this.#random() < 0.3) await this.place();
    if (this.#random() < 0.9) await this.open();
    if (this.#random() < 0.25) await this.tamper();
    if (this.#random() < 0.6) await this.pay();
  }

  async step(): Promise<void> {
    if (this.#random() < 0.12) {
      const at = 1 + this.#below(25);
      this.log.push(`kill at call ${at}`);
      this.#worker.mortal.killAt(at);
    }
    if (this.#random() < 0.15) {
      const kind = this.#pick(["cutAfterCommit", "cutBefore", "status500", "status429"] as const) as "cutBefore";
      const match = this.#pick(["POST checkout", "GET checkout", "POST refunds", "GET refunds", "POST"]) as string;
      const times = this.#pick([1, 3]) as number;
      this.log.push(`fault ${kind} ${match} × ${times}`);
      for (let count = 0; count < times; count++) this.#stripe.faults.push({ match, kind });
    }
    const act = this.#pick(this.#acts) as () => Promise<unknown>;
    this.log.push(act.name);
    const isTwo = this.#random() < 0.2;
    const others = isTwo ? [this.#pick(this.#acts) as () => Promise<unknown>] : [];
    this.log.push(...others.map(({ name }) => `with ${name}`));
    await Promise.all([act, ...others].map((one) => one.call(this)));
    if (this.#random() < 0.7) this.#stripe.faults.length = 0;
    for (const { mortal } of this.#stage.workers) mortal.revive();
    await this.#checkAlways();
  }

  get #acts() {
    return [
      ...[
        this.place,
        this.place,
        this.open,
        this.open,
        this.open,
        this.openLate,
        this.pay,
        this.pay,
        this.pay,
        this.payLate,
      ],
      ...[this.deliver, this.deliver, this.deliver, this.lose, this.decide, this.check1, this.check1, this.transfer],
      ...[this.cancel, this.refund, this.refund, this.refundThere, this.finishRefund, this.retry, this.dispute],
      ...[this.moveDispute, this.wait, this.wait, this.jobs, this.jobs, this.jobs, this.tamper],
    ];
  }

  async place(holdSeconds = this.#pick([undefined, undefined, 60, 7000])) {
    if (this.#orders.length === 4) return undefined;
    const items = [{ product_id: this.product, quantity: 1 + this.#below(2) }];
    const body = { items, email: "ada@example.com", expires_in: holdSeconds };
    const { status, data } = await this.#call("POST /orders/", body);
    if (status !== 201) return undefined;
    this.#orders.push(data.id);
    return data.id;
  }

  /** A buyer opens a page that ends after its order, because an order is held for at most two hours. */
  async openLate() {
    const id = await this.place(7000);
    if (id === undefined) return;
    this.#stage.clock.advance(110 * minute);
    await this.open(id);
    this.#stage.clock.advance(12 * minute);
    await this.jobs(expireDueOrders);
  }

  async open(id = this.#pick(this.#orders)) {
    if (id === undefined) return;
    // A buyer may click twice.
    const clicks = this.#random() < 0.2 ? 2 : 1;
    const request = `POST /orders/${id}/checkout/`;
    const pages = await Promise.all(
      Array.from({ length: clicks }, () => this.#call<{ url: string }>(request, returnUrls)),
    );
    for (const { status, data } of pages) {
      if (status === 200 && data.url) this.#known.add(data.url.split("/").at(-1) as string);
    }
  }

  #openSessions() {
    return this.#stripe.books.lists["checkout/sessions"].filter(
      ({ id, status }) => status === "open" && this.#known.has(id),
    );
  }

  async pay(async = false) {
    this.#stripe.books.expireDue();
    const session = this.#pick(this.#openSessions());
    if (session) this.#stripe.pay(session.id, { async });
  }

  /** The bank accepts or refuses the payment later. */
  payLate() {
    return this.pay(true);
  }

  /** The buyer pays another amount or currency than the page shows. */
  async tamper() {
    const session = this.#pick(this.#openSessions());
    // A second change could restore the first value.
    if (!session || this.#tampered.has(session.id)) return;
    this.#tampered.add(session.id);
    if (this.#random() < 0.5) session.currency = "usd";
    else session.amount_total = Number(session.amount_total) + (this.#random() < 0.5 ? 100 : -100);
  }

  async decide() {
    const undecided = this.#undecided();
    const session = this.#pick(undecided);
    if (session) this.#stripe.settleAsync(session.id, this.#random() < 0.6);
  }

  #undecided() {
    const { lists } = this.#stripe.books;
    return lists["checkout/sessions"].filter(
      ({ payment_intent }) => lists.payment_intents.find(({ id }) => id === payment_intent)?.status === "processing",
    );
  }

  async deliver() {
    const waiting = this.#stripe.webhooks.map((_, index) => index).filter((index) => !this.#answered.has(index));
    const index = this.#random() < 0.8 ? this.#pick(waiting) : this.#below(this.#stripe.webhooks.length);
    if (index === undefined || this.#stripe.webhooks.length === 0) return;
    await this.#deliver(index);
  }

  async #deliver(index: number): Promise<void> {
    const { body } = this.#stripe.webhooks[index] as { body: string };
    const { id, type, data } = JSON.parse(body) as { id: string; type: string; data: { object: { id: string } } };
    // An event about a page or payment that is not known yet has nothing to commit.
    const pages = await this.#rows("select 1 from checkouts where session_id = ?", data.object.id);
    const status = await this.#stripe.deliver(index);
    this.log.push(`  ${type} -> ${status}`);
    if (status !== 200) return;
    this.#answered.add(index);
    const recorded = await this.#rows("select 1 from payment_events where id = ?", id);
    if (pages.length > 0 && recorded.length === 0) {
      throw new Error(`Event ${type} was answered with 200 before it was committed.`);
    }
  }

  async lose() {
    const index = this.#below(this.#stripe.webhooks.length);
    this.#answered.add(index);
  }

  async check1() {
    const id = this.#pick(this.#orders);
    if (id !== undefined) await this.#call(`POST /orders/${id}/checkout/check/`);
  }

  async transfer() {
    const id = this.#random() < 0.4 ? this.#pick(this.#orders) : undefined;
    if (id !== undefined) await this.#call(`POST /orders/${id}/pay/`, this.#random() < 0.5 ? {} : { amount: 5 });
  }

  async cancel() {
    const id = this.#random() < 0.6 ? this.#pick(this.#orders) : undefined;
    if (id !== undefined) await this.#call(`POST /orders/${id}/cancel/`);
  }

  async refund() {
    const id = this.#pick(this.#orders);
    if (id === undefined) return;
    const restock = this.#random() < 0.5;
    const body = this.#pick([{ restock }, { amount: 4 }, { amount: 7 }]) as object;
    // Two members of staff may do it at once.
    const clerks = this.#random() < 0.4 ? 2 : 1;
    await Promise.all(Array.from({ length: clerks }, () => this.#call(`POST /orders/${id}/refund/`, body)));
  }

  async refundThere() {
    const charge = this.#pick(this.#stripe.books.lists.charges);
    const left = charge ? charge.amount - Number(charge.amount_refunded) : 0;
    if (!charge || left === 0 || charge.disputed) return;
    const amount = this.#random() < 0.5 ? left : Math.min(left, 300);
    this.#stripe.refundInDashboard(
      String(charge.payment_intent),
      amount,
      this.#pick(["succeeded", "pending"]) as string,
    );
  }

  async finishRefund() {
    this.#stripe.books.refundsBecome = this.#random() < 0.5 ? "pending" : "succeeded";
    const refund = this.#pick(this.#stripe.books.lists.refunds.filter(({ status }) => !/failed|canceled/.test(status)));
    if (!refund) return;
    const end = refund.status === "pending" ? this.#pick(["succeeded", "failed", "canceled"] as const) : "failed";
    if (refund.status === "pending" || this.#random() < 0.3) this.#stripe.finishRefund(refund.id, end as "failed");
  }

  async retry() {
    const id = this.#pick(this.#orders);
    if (id === undefined) return;
    const { data } = await this.#call(`GET /orders/${id}/`);
    const refunds = (data?.refunds ?? []) as { id: string; state?: string }[];
    const failed = this.#pick(refunds.filter(({ state }) => state === "failed"));
    if (failed) await this.#call(`POST /orders/${id}/refund/${failed.id}/retry/`);
  }

  async dispute() {
    const charge = this.#pick(this.#stripe.books.lists.charges.filter(({ disputed }) => !disputed));
    const amount = charge ? charge.amount - Number(charge.amount_refunded) : 0;
    const status = this.#pick(["needs_response", "warning_needs_response"]) as string;
    if (amount > 0) this.#stripe.dispute(String(charge?.payment_intent), { amount, status });
  }

  async moveDispute() {
    const open = this.#stripe.books.lists.disputes.filter(({ status }) => !/won|lost|closed/.test(status));
    const dispute = this.#pick(open);
    if (!dispute) return;
    const ends = dispute.status.startsWith("warning") ? ["warning_closed"] : ["under_review", "won", "lost"];
    this.#stripe.moveDispute(dispute.id, this.#pick(ends) as string);
  }

  async wait() {
    this.#stage.clock.advance((this.#pick([1, 6, 20, 40, 65]) as number) * minute);
  }

  /** One of the jobs of a process. */
  async jobs(only?: (deps: PaymentDeps) => Promise<unknown>) {
    const { deps, refunds, mortal } = this.#worker;
    const engine = async () => {
      await refunds.poll();
      await refunds.idle();
    };
    const twice = [readDueCheckouts, expireDueOrders, engine];
    const all = [...twice, ...twice, pollEvents];
    const job = only ?? (this.#pick(all) as (deps: PaymentDeps) => Promise<unknown>);
    this.log.push(`  job ${job.name}`);
    await job(deps).catch((error: unknown) => {
      if (!mortal.isDead && !/not answer|busy/.test(String(error))) throw error;
    });
  }

  /** Checks the rules that hold at any time. */
  async #checkAlways(): Promise<void> {
    this.#stripe.books.expireDue();
    // An order that has stopped waiting for a page may get its payment later.
    const undecided = await this.#ofOrders<{ id: string; status: string }>(
      `select o.id, o.status from checkouts c join orders o on o.id = c.order_id where c.state = 'processing' and o.id in`,
    );
    const early = undecided.some(({ id, status }) => status === "expired" && this.#waiting.has(id));
    if (early) throw new Error("An order has expired although its payment is being decided.");
    this.#waiting = new Set(undecided.filter(({ status }) => status === "pending").map(({ id }) => id));
    const twice = await this.#rows(
      "select 1 from checkouts where state = 'open' group by order_id having count(*) > 1",
    );
    const overdrawn = await this.#ofOrders(
      "select 1 from order_refunds r join payments p on p.id = r.payment_id where r.state <> 'failed' and r.order_id in",
      "group by p.id having sum(r.amount_minor) > max(p.amount_minor)",
    );
    if (overdrawn.length > 0) throw new Error("The refunds of a payment are more than the payment.");
    const known = this.#openSessions();
    const ids = known.map((one) => one.metadata.order);
    if (twice.length > 0 || new Set(ids).size < ids.length) throw new Error("Two pages of an order are open at once.");
    for (const { id, metadata } of known) {
      const [row] = await this.#rows<{ status: string; expires_at: string }>(
        "select status, expires_at from orders where id = ?",
        metadata.order as string,
      );
      const { status, expires_at: end } = row as NonNullable<typeof row>;
      const mayHaveGivenUp = status === "expired" && this.#stage.clock.now() - Date.parse(end) >= 60 * minute;
      if (["expired", "cancelled"].includes(status) && !mayHaveGivenUp) {
        throw new Error(`Order is ${status} while its page ${id} is open.`);
      }
    }
  }

  /**
   * Finishes everything that is running: faults end, banks decide, webhook calls that were not lost arrive, and jobs
   * run.
   */
  async rest(): Promise<void> {
    this.log.push("rest");
    this.#stripe.faults.length = 0;
    const { lists } = this.#stripe.books;
    for (const session of this.#undecided()) this.#stripe.settleAsync(session.id, this.#random() < 0.6);
    for (const minutes of [0, 2, 11, 20, 65, 130, 1500, 11, 11]) {
      this.#stage.clock.advance(minutes * minute);
      for (const [index] of this.#stripe.webhooks.entries()) if (!this.#answered.has(index)) await this.#deliver(index);
      for (const { deps, refunds } of this.#stage.workers) {
        await readDueCheckouts(deps);
        await pollEvents(deps);
        await expireDueOrders(deps);
        await refunds.poll();
        await refunds.idle();
      }
      for (const { id, status } of lists.refunds) if (status === "pending") this.#stripe.finishRefund(id, "succeeded");
    }
  }

  async #rows<T>(sql: string, ...args: string[]): Promise<T[]> {
    return (await this.#stage.database.db.execute({ sql, args })).rows as unknown as T[];
  }

  /** Returns rows of this history's orders. The statement must end with the column of the order's id and `in`. */
  #ofOrders<T>(sql: string, sorted = ""): Promise<T[]> {
    return this.#rows(`${sql} (select value from json_each(?)) ${sorted}`, JSON.stringify(this.#orders));
  }

  /** Compares the stored payments, refunds and disputes with those at Stripe. */
  async check(): Promise<void> {
    const { lists } = this.#stripe.books;
    for (const order of this.#orders) await this.#checkOrder(order);
    const left = await this.#ofOrders("select 1 from checkouts where state = 'open' and order_id in");
    if (left.length > 0) throw new Error("A page is open at rest.");
    const paid = lists["checkout/sessions"].filter(({ payment_status }) => payment_status === "paid");
    const booked = await this.#ofOrders("select 1 from payments where provider = 'stripe' and order_id in");
    if (booked.length !== paid.length) {
      throw new Error(`${paid.length} sessions are paid, and ${booked.length} payments are booked.`);
    }
    const { app } = this.#stage.workers[0] as Worker;
    const { inconsistencies } = await findInconsistencies(app.system, { namespace: this.#shop.namespace });
    if (inconsistencies.length > 0) throw new Error(`Inconsistent: ${JSON.stringify(inconsistencies)}`);
    const [mails] = await this.#rows<{ paid: number; mailed: number }>(
      `select (select count(*) from orders where tenant_id = t.id and paid_at is not null) as paid,
         (select count(*) from mail_outbox where tenant_id = t.id and kind = 'order_paid') as mailed
       from tenants t where namespace = ?`,
      this.#shop.namespace,
    );
    if (mails?.paid !== mails?.mailed)
      throw new Error(`Not every paid order was mailed once: ${JSON.stringify(mails)}`);
    await this.#checkStock();
    const before = await this.#dump();
    for (const id of this.#orders) await this.#call(`POST /orders/${id}/checkout/check/`);
    const after = await this.#dump();
    if (before !== after) throw new Error(`Another reading has changed rows:\n${before}\n${after}`);
  }

  async #checkStock(): Promise<void> {
    const [item] = await this.#rows<{ stock: number; reserved: number }>(
      "select stock, reserved from products where id = ?",
      this.product,
    );
    const [sums] = await this.#rows<{ sold: number; held: number }>(
      `select coalesce(sum(iif(o.paid_at is null, 0, l.quantity - l.restocked_quantity)), 0) as sold,
         coalesce(sum(iif(o.status = 'pending', l.quantity, 0)), 0) as held
       from order_lines l join orders o on o.id = l.order_id where l.product_id = ?`,
      this.product,
    );
    const { sold = -1, held = -1 } = sums ?? {};
    if (item?.stock !== stock - sold || item.stock < item.reserved || item.reserved !== held) {
      throw new Error(`Stock is ${JSON.stringify(item)}, ${sold} of ${stock} pieces are sold, and ${held} reserved.`);
    }
  }

  async #checkOrder(id: string): Promise<void> {
    const { lists } = this.#stripe.books;
    const order = (await this.#call(`GET /orders/${id}/`)).data;
    const refunds = await this.#rows<{
      provider_id: string | null;
      state: string;
      amount_minor: number;
      payment_id: string;
    }>("select provider_id, state, amount_minor, payment_id from order_refunds where order_id = ?", id);
    const fail = (text: string): never => {
      throw new Error(`${text}\n${JSON.stringify(order)}\n${JSON.stringify(refunds)}`);
    };
    if (refunds.some(({ state }) => state === "requested" || state === "pending")) fail("A refund has no end.");
    const sessions = lists["checkout/sessions"].filter(({ metadata }) => metadata.order === id);
    for (const session of sessions.filter(({ payment_status }) => payment_status === "paid")) {
      const payment = order.payments.find(({ reference }) => reference === session.payment_intent);
      if (payment?.amount_minor !== session.amount_total) fail(`The payment of ${session.id} is not booked.`);
      const ofPayment = refunds.filter(({ payment_id }) => payment_id === payment?.id);
      const ofSession = <T extends { payment_intent?: unknown }>(list: T[]) =>
        session.currency === "eur" ? list.filter((one) => one.payment_intent === session.payment_intent) : [];
      for (const there of ofSession(lists.refunds)) {
        const here = ofPayment.find(({ provider_id }) => provider_id === there.id);
        const state = /failed|canceled/.test(there.status) ? "failed" : there.status;
        const isUnknown = !here && state === "failed";
        if (!isUnknown && (here?.state !== state || here.amount_minor !== there.amount))
          fail(`Refund ${JSON.stringify(there)} differs.`);
      }
      for (const dispute of ofSession(lists.disputes)) {
        const isKnown = order.disputes?.some((one) => one.id === dispute.id && one.status === dispute.status);
        if (!isKnown) fail("A dispute differs.");
        const isReturned = ofPayment.some(({ provider_id, state }) => provider_id === dispute.id && state !== "failed");
        if (isReturned !== (dispute.status === "lost")) fail("A lost dispute is not returned.");
      }
      const own = ofPayment.filter(({ state }) => state !== "failed");
      const isMade = ({ provider_id }: (typeof own)[number]) =>
        provider_id?.startsWith("du_") || lists.refunds.some((one) => one.id === provider_id);
      if (!own.every(isMade)) fail("A refund is recorded that Stripe has not made.");
    }
    const events = await this.#rows("select 1 from events where subject = ? and type = 'order.paid'", id);
    if (events.length > 1) fail("The order was paid twice.");
    const needs = order.needs_attention ?? [];
    const isTampered = sessions.some((one) => one.payment_status === "paid" && this.#tampered.has(one.id));
    if (isTampered && !needs.includes("amount_mismatch")) fail("A wrong amount was not noticed.");
    const isSettled =
      ["paid", "completed", "cancelled"].includes(order.status) || needs.length > 0 || order.refunded_minor > 0;
    if (order.received_minor >= order.total_minor && !isSettled) fail("A paid order is not paid.");
    if (order.status === "pending" && !needs.some((kind) => /partial_payment|amount_mismatch/.test(kind)))
      fail("An order waits for ever.");
  }

  async #dump(): Promise<string> {
    const rows: unknown[] = [];
    for (const from of [
      "* from orders where id",
      "* from payments where order_id",
      "* from order_refunds where order_id",
      "* from disputes where order_id",
      "* from order_attention where order_id",
      "* from events where subject",
      "id, state from checkouts where order_id",
    ]) {
      rows.push(await this.#ofOrders(`select ${from} in`, "order by 1, 2"));
    }
    return JSON.stringify(rows);
  }
}
