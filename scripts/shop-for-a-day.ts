// Runs a shop for a day with dist/bodega, or with another executable (`--executable`): thirty orders, and ten kills. Then
// compares the shop's records with those of the simulated Stripe, bank and mail server. `--seed N` repeats the choices of
// a day, but not its timing.
import { parseArgs } from "node:util";
import * as audit from "./day/audit.ts";
import { plan } from "./day/plan.ts";
import { type Desk, openDesk, type Sale } from "./day/sales.ts";
import { openShop } from "./day/shop.ts";
import { openStage, type Stage } from "./day/stage.ts";

const minute = 60_000;
const day = 24 * 60 * minute;
const lanes = 3;

/** Waits for background jobs of the server, which run every few seconds in real time. */
async function waitFor(what: string, isDone: () => Promise<boolean>, step: () => void = () => {}): Promise<void> {
  const deadline = performance.now() + 90_000;
  while (!(await isDone())) {
    if (performance.now() > deadline) throw new Error(`Still waiting: ${what}`);
    step();
    await Bun.sleep(500);
  }
}

/** Runs the scenarios in a random order, some at the same time. Returns the sales with the names of their scenarios. */
async function sell(desk: Desk): Promise<{ name: string; sale: Sale }[]> {
  const { stage, shop } = desk;
  const order = plan.map((one) => ({ one, at: stage.random() })).sort((a, b) => a.at - b.at);
  const sales: { name: string; sale: Sale }[] = [];
  const customers = [...shop.customers, ...shop.customers];
  const work = async () => {
    for (let next = order.pop(); next; next = order.pop()) {
      const [name, scenario] = next.one;
      const customer = order.length % 2 === 0 ? customers.pop() : undefined;
      const sale = await scenario(desk, customer).catch((error: Error) => {
        throw new Error(`${name}: ${error.message}`, { cause: error });
      });
      sales.push({ name, sale });
      stage.clock.advance(2000);
    }
  };
  await Promise.all(Array.from({ length: lanes }, work));
  return sales;
}

/** Delivers Stripe's late calls in a random order, and lost calls only after the server has found the payments itself. */
async function closeTill(desk: Desk, sales: readonly { name: string; sale: Sale }[]): Promise<void> {
  const { stage, late, sent, stripe } = desk;
  for (const webhook of late.splice(0).sort(() => stage.random() - 0.5)) await desk.deliver(webhook);
  await settle(desk);
  stage.clock.advance(11 * minute);
  for (const { name, sale } of sales) {
    if (!name.startsWith("card")) continue;
    await waitFor(
      `the payment of order ${sale.number} (${name})`,
      async () => (await desk.read(sale)).paid_at !== null,
    );
  }
  const rest = stripe.webhooks.filter((one) => !sent.has(one)).sort(() => stage.random() - 0.5);
  for (const webhook of rest) await desk.deliver(webhook);
}

/** Moves the clock by days, so that unpaid orders expire. Two of them are then paid. */
async function waitForTransfers(desk: Desk, sales: readonly { name: string; sale: Sale }[]): Promise<void> {
  await settle(desk);
  desk.stage.clock.advance(8 * day);
  const unpaid = sales.filter(({ name }) => /after expiry|never comes/.test(name));
  for (const { sale } of unpaid) {
    await waitFor(`the expiry of order ${sale.number}`, async () => (await desk.read(sale)).status === "expired");
  }
  for (const { sale } of unpaid.filter(({ name }) => /after expiry/.test(name))) {
    const { transfer_reference: reference } = await desk.read(sale);
    const booking = `bank-${sale.number}`;
    await desk.stage.run("order", "pay", "-n", "demo", String(reference), "--payment-reference", booking, "--yes");
    desk.bank.set(sale.id, sale.total_minor);
    const { paid_at, needs_attention: kinds = [] } = await desk.read(sale);
    if (paid_at === null && !kinds.includes("late_payment")) throw new Error(`Order ${sale.number} lost a payment`);
  }
}

/** Waits until refunds are made and mails are sent. Before that, the clock may not jump, because claims would expire. */
async function settle({ stage, ...desk }: Desk): Promise<void> {
  const isDone = async () => {
    const mails = JSON.parse(
      await stage.run("mail", "list", "-n", "demo", "--status", "waiting", "--json"),
    ) as unknown[];
    const orders = await audit.readOrders({ stage, ...desk });
    return mails.length === 0 && orders.every(({ refunds }) => refunds.every(({ state }) => state !== "requested"));
  };
  await waitFor("mails and refunds", isDone, () => stage.clock.advance(2000));
}

async function runDay(stage: Stage): Promise<void> {
  const started = performance.now();
  const desk = openDesk(stage, await openShop(stage));
  const sales = await sell(desk);
  await closeTill(desk, sales);
  await waitForTransfers(desk, sales);
  await stage.finishKills();
  await settle(desk);
  const orders = await audit.readOrders(desk);
  if (orders.length !== plan.length) throw new Error(`${orders.length} orders instead of ${plan.length}`);
  const found = [
    audit.checkMoney(desk, orders),
    await audit.checkStock(desk, orders),
    await audit.checkPoints(desk, orders),
    await audit.checkInvoices(desk, orders),
    await audit.checkReports(desk, orders),
    await audit.checkMails(desk, orders),
    await audit.checkDoctor(desk),
  ];
  await stage.stop();
  const seconds = Math.round((performance.now() - started) / 1000);
  console.log(`${orders.length} orders, ${stage.kills.length} kills, ${stage.counts.cut} calls repeated, ${seconds} s`);
  console.log(found.map((line) => `  ${line}`).join("\n"));
}

const { values } = parseArgs({ options: { seed: { type: "string" }, executable: { type: "string" } } });
const seed = Number(values.seed ?? Math.floor(Math.random() * 1_000_000));
console.log(`A shop for a day, seed ${seed}`);
const stage = await openStage(seed, values.executable);
try {
  await runDay(stage);
} catch (error) {
  console.error(`The day failed, seed ${seed}:`, error);
  process.exitCode = 1;
}
await stage.close();
// After a failure, buyers still wait for the server.
process.exit();
