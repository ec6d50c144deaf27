import { sql } from "drizzle-orm";
import { all, get, param, statement } from "../../../db/statement.ts";
import { wrongState } from "../../../errors.ts";
import { sumOf } from "../../../values/money.ts";
import type { OrderMailKind } from "../../mail/kinds.ts";
import type { MailOrder } from "../../mail/order-table.ts";
import { queueMail } from "../../mail/outbox.ts";
import { listStaffAddresses, mailStore, type StaffAddress } from "../../mail/store-mail.ts";
import { countHit } from "../../rate-limits/service.ts";
import { selectSettings } from "../../tenants/table.ts";
import { dueOf } from "../amounts.ts";
import type { Tracking } from "../change-model.ts";
import { refundedPieces, refundOf, selectRefunds } from "../credits.ts";
import { accessToken } from "../guests/access-token.ts";
import { type OrderRow, ofOrder, requireRow, selectLines, titleOf } from "../read.ts";
import { unsentOf } from "../refund-lines.ts";
import type { OrderCtx } from "../statements.ts";
import { fulfillments } from "../table.ts";
import { transferReference } from "../transfer-reference.ts";

/** Limits mails to unverified addresses, which a stranger may have entered. Each kind of mail is counted separately. */
const limits = { name: "order placed mails", max: 3, windowMs: 60 * 60_000 };
const limited: readonly OrderMailKind[] = ["order_placed", "order_cancelled", "order_expired"];

const selectStore = selectSettings("transferInstructions", "taxNote");
// Selects the parcel with the id `cause`; the newest one if `cause` is null.
const selectParcel = statement((q) =>
  q
    .select()
    .from(fulfillments)
    .where(sql`${ofOrder} and id = coalesce(${param("cause")}, id)`)
    .orderBy(sql`id desc`)
    .limit(1),
);

type LineRow = NonNullable<(typeof selectLines)["row"]>;
type Described = Pick<MailOrder, "lines" | "sums" | "taxNote"> & {
  amounts?: Record<string, number>;
  values: Record<string, string>;
};

/**
 * Queues the mails about a new order, in its transaction: to its buyer, and to the store. If the order has a payment
 * page, the store is notified once the order is paid, because buyers often leave the page.
 */
export async function mailPlaced(
  tx: OrderCtx,
  { id, email, paymentMethod }: Pick<OrderRow, "id" | "email" | "paymentMethod">,
  storeAddresses: readonly StaffAddress[],
): Promise<void> {
  const staff = paymentMethod === "stripe" ? [] : storeAddresses;
  if (email === null && staff.length === 0) return;
  await queueMails(tx, await requireRow(tx, id), { kind: "order_placed", cause: id, staff });
}

/**
 * Queues the mails about a change of an order, in the transaction of the change, once for each kind and cause. A buyer
 * without an email gets none. Mails to buyers repeat no text that a buyer has entered.
 */
export async function mailOrder(tx: OrderCtx, id: string, kind: OrderMailKind, cause = id): Promise<void> {
  const order = await requireRow(tx, id);
  const isNew = kind === "order_paid" && order.paymentMethod === "stripe";
  const staff = isNew ? await listStaffAddresses(tx.db, tx.tenant.id) : [];
  if (order.email !== null || staff.length > 0) await queueMails(tx, order, { kind, cause, staff });
}

async function queueMails(
  tx: OrderCtx,
  order: OrderRow,
  { kind, cause, staff }: { kind: OrderMailKind; cause: string; staff: readonly StaffAddress[] },
): Promise<void> {
  const mail = await describeOrder(tx, order, kind, cause);
  if (staff.length > 0) {
    const customer = [order.email, order.phone, ...addressLines(order), order.note].filter(Boolean).join("\n");
    await mailStore(tx, { ...mail, kind: "new_order", cause: order.id, values: { ...mail.values, customer } }, staff);
  }
  if (order.email === null || (await isLimited(tx, order, kind))) return;
  await queueMail(tx, { ...mail, kind, cause, to: { email: order.email, lang: order.lang } });
}

async function isLimited({ tenant, vault, ...ctx }: OrderCtx, { emailKey }: OrderRow, kind: OrderMailKind) {
  if (!limited.includes(kind)) return false;
  const key = `${tenant.id}:${kind.replace("order_", "")}:${emailKey}`;
  return (await countHit(ctx, limits, vault.mac("limit", key))) > 0;
}

/**
 * Returns the contents of a mail about an order. `cause` is the id of its parcel or refund; null for the newest one.
 * @throws wrongState if the mail is about a parcel or refund, and the order has none.
 */
export async function describeOrder(tx: OrderCtx, order: OrderRow, kind: OrderMailKind, cause: string | null = null) {
  const { id, number, currency, currencyDigits: digits, totalMinor, accessVersion } = order;
  const lines = await all(tx.db, selectLines, { tenantId: tx.tenant.id, id });
  const describe =
    kind === "order_shipped" ? describeParcel : kind === "order_refunded" ? describeRefund : describeSale;
  const { values, amounts, ...table } = await describe(tx, { order, lines, kind, cause });
  return {
    thread: id,
    values: {
      ...{ number: String(number), items: lines.map(({ quantity, ...line }) => piecesOf(line, quantity)).join("\n") },
      ...values,
      // The token is in the URL's fragment, because browsers do not send fragments to servers.
      link: tx.tenant.orderUrl === null ? "" : `${tx.tenant.orderUrl}#${id}.${accessToken(tx, id, accessVersion)}`,
    },
    order: { currency, digits, amounts: { total: totalMinor, ...amounts }, ...table },
  };
}

function addressLines({ shippingAddress }: OrderRow): (string | undefined)[] {
  const address = JSON.parse(shippingAddress ?? "{}") as Record<string, string | undefined>;
  const { name, company, line1, line2, postal_code, city, region, country } = address;
  return [name, company, line1, line2, [postal_code, city].filter(Boolean).join(" "), region, country];
}

interface Subject {
  order: OrderRow;
  lines: LineRow[];
  kind: OrderMailKind;
  cause: string | null;
}

const piecesOf = (line: Parameters<typeof titleOf>[0], quantity: number) => `${quantity} × ${titleOf(line)}`;

async function describeSale(tx: OrderCtx, { order, lines, kind }: Subject): Promise<Described> {
  const { number, totalMinor, paymentMethod } = order;
  const { transferInstructions = null, taxNote = null } =
    (await get(tx.db, selectStore, { tenantId: tx.tenant.id })) ?? {};
  const isTransfer = kind === "order_placed" && paymentMethod === "manual" && totalMinor > 0;
  const transfer = (isTransfer && transferInstructions) || "";
  const sold = lines.map((line) => ({
    ...{ quantity: line.quantity, title: titleOf(line), price: line.priceMinor, total: line.subtotalMinor },
  }));
  return {
    values: { instructions: transfer, reference: transfer && transferReference(number) },
    ...{ lines: sold, sums: sumsOf(order, kind), taxNote: order.taxMinor === 0 ? taxNote : null },
  };
}

/** Returns the sums of an order for a mail. Included tax is listed after the total, added tax before the total. */
function sumsOf(order: OrderRow, kind: OrderMailKind): MailOrder["sums"] {
  const { pricesIncludeTax, taxMinor, discountMinor, shippingMinor, receivedMinor } = order;
  const rate = order.shippingRate === null ? null : (JSON.parse(order.shippingRate) as { name: string });
  const rates = JSON.parse(order.taxLines) as { rate: number; tax_minor: number }[];
  const label = pricesIncludeTax ? "includes_tax" : "plus_tax";
  const taxes: MailOrder["sums"] =
    rates.length === 0 && taxMinor > 0
      ? [{ label: "tax", amount: taxMinor }]
      : rates.filter((one) => one.rate > 0).map((one) => ({ label, rate: one.rate, amount: one.tax_minor }));
  const due = kind === "order_placed" ? Math.max(dueOf(order), 0) : 0;
  return [
    { label: "subtotal", amount: order.subtotalMinor },
    ...(discountMinor > 0 ? [{ label: "discount" as const, amount: -discountMinor, detail: order.discountCode }] : []),
    ...(rate || shippingMinor > 0 ? [{ label: "shipping" as const, amount: shippingMinor, detail: rate?.name }] : []),
    ...(pricesIncludeTax ? [] : taxes),
    { label: "total", amount: order.totalMinor },
    ...(pricesIncludeTax ? taxes : []),
    ...(receivedMinor > 0 ? [{ label: "paid" as const, amount: receivedMinor }] : []),
    ...(due > 0 ? [{ label: "due" as const, amount: due }] : []),
  ];
}

async function describeParcel(tx: OrderCtx, { order, lines, cause }: Subject): Promise<Described> {
  const found = await get(tx.db, selectParcel, { tenantId: tx.tenant.id, id: order.id, cause });
  if (!found) throw wrongState(`Order ${order.number} has no parcel yet.`);
  const { carrier, number, url } = JSON.parse(found.tracking ?? "{}") as Tracking;
  const sent = JSON.parse(found.lines) as { line_id: string; quantity: number }[];
  const rest = lines.filter((line) => unsentOf(line) > 0).map((line) => piecesOf(line, unsentOf(line)));
  return {
    values: { carrier: carrier ?? "", tracking_number: number ?? "", tracking_url: url ?? "", rest: rest.join(", ") },
    lines: sent.map(({ line_id, quantity }) => ({ quantity, title: titleById(lines, line_id) })),
    sums: [],
  };
}

async function describeRefund(tx: OrderCtx, { order, lines, cause }: Subject): Promise<Described> {
  const refunds = await all(tx.db, selectRefunds, { tenantId: tx.tenant.id, id: order.id });
  const wanted = cause ?? refunds.map(refundOf).at(-1);
  const rows = refunds.filter((row) => refundOf(row) === wanted);
  const first = rows.find(({ partOf }) => partOf === null);
  if (!first) throw wrongState(`Order ${order.number} has no refund yet.`);
  const paid = sumOf(rows, (row) => (row.state === "succeeded" ? row.amountMinor : 0));
  const pending = sumOf(rows, (row) => (["requested", "pending"].includes(row.state) ? row.amountMinor : 0));
  return {
    values: {},
    amounts: { refund_paid: paid, refund_pending: pending },
    lines: refundedPieces(first).map(({ line_id, quantity, amount_minor: total }) => {
      return { quantity, total, title: titleById(lines, line_id) };
    }),
    sums: [
      ...(first.shippingMinor > 0 ? [{ label: "shipping" as const, amount: first.shippingMinor }] : []),
      { label: "refunded", amount: paid + pending },
    ],
  };
}

function titleById(lines: readonly LineRow[], id: string): string {
  const line = lines.find((one) => one.id === id);
  return line ? titleOf(line) : "";
}
