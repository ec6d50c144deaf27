import type { PaymentOptions } from "../../context.ts";
import { AppError, unavailable } from "../../errors.ts";
import type { checkouts } from "../orders/checkouts/table.ts";
import type { OrderRow } from "../orders/read.ts";
import type { orderLines, orderRefunds } from "../orders/table.ts";
import type { CheckoutInput } from "./model.ts";
import type { disputes, paymentEvents } from "./table.ts";

type Dispute = typeof disputes.$inferSelect;
type Event = typeof paymentEvents.$inferSelect;
type Checkout = typeof checkouts.$inferSelect;
type Refund = typeof orderRefunds.$inferSelect;

/** An amount in minor units of ISO 4217, also if the provider uses other units. */
export type ProviderMoney = Pick<Dispute, "amountMinor" | "currency">;

export interface ProviderRefund extends ProviderMoney, Pick<Refund, "error"> {
  id: string;
  /** The id of the row in `order_refunds` that requested the refund; null for a refund made at the provider. */
  ownId: string | null;
  state: Exclude<Refund["state"], "requested">;
}

export interface ProviderDispute extends Omit<Dispute, "tenantId" | "orderId" | "paymentId" | "createdAt"> {
  isLost: boolean;
  isClosed: boolean;
}

export interface Snapshot {
  /** A completed page is `processing` until the provider accepts the payment, or `failed` if the provider refuses. */
  state: Checkout["state"];
  intentId: string | null;
  payment: (ProviderMoney & { reference: string; receivedAt: string }) | null;
  refunds: ProviderRefund[];
  disputes: ProviderDispute[];
}

/** An event says that a page or payment has changed. The new state is then read at the provider. */
export interface ProviderEvent extends Omit<Event, "tenantId" | "createdAt"> {
  /** The provider's id of the page or payment that has changed. */
  about: string | null;
}

type NewCheckout = Pick<Checkout, "id" | "request" | "createdAt">;
export type RefundRequest = ProviderMoney & { id: string; orderId: string; intentId: string };

/**
 * Calls to the account of a store at a provider. With `isOld`, it first searches for the result of an earlier call.
 * @throws unavailable if the provider does not decide; wrongState if the provider refuses.
 */
export interface Provider {
  /** Opens a page. A second call for the same checkout returns the same page. */
  open(checkout: NewCheckout, isOld: boolean): Promise<{ sessionId: string; url: string } | undefined>;
  read(sessionId: string): Promise<Snapshot>;
  close(sessionId: string): Promise<unknown>;
  refund(request: RefundRequest, isOld: boolean): Promise<ProviderRefund>;
  /** Returns the events since a time in epoch milliseconds, the oldest first. */
  listEvents(since: number): Promise<ProviderEvent[]>;
}

/** The parameters of a new page. `expiresAt` is in epoch milliseconds. */
export interface NewPage extends CheckoutInput {
  id: string;
  due: number;
  methods: string[];
  expiresAt: number;
}

export type SignedCall = { body: Uint8Array; signature: string; secrets: readonly string[]; now: number };

/** The functions of a provider that need no network. `open` returns the functions that call the provider. */
export interface ProviderKind {
  /** Returns the body of the request that opens a page. Errors: wrongState for a currency that cannot be charged. */
  requestOf(order: OrderRow, lines: readonly (typeof orderLines.$inferSelect)[], page: NewPage): object;
  open(key: string, options?: PaymentOptions): Provider;
  /**
   * Returns the event of a webhook call; undefined unless one of the secrets has signed it in the last five minutes.
   * @throws malformedRequest for a signed body that is no event.
   */
  verify(call: SignedCall): Promise<ProviderEvent | undefined>;
}

export const isRefusal = (error: unknown): error is AppError =>
  error instanceof AppError && error.kind === "wrongState";

/** Returns the HTTP status of the reply that caused an error; undefined without a reply. */
export const statusOf = (error: unknown): number | undefined =>
  ((error as Error).cause as { statusCode?: number } | undefined)?.statusCode;

const reply = "Card payments are not available now.";

/** Returns an error that the store's owner must fix. Buyers get a general reply; the log and `doctor` say more. */
export function accountFault(message: string, cause?: unknown): AppError {
  const remedy = "Connect the store with a valid key: bodega payment connect stripe -n <namespace> --key-file <file>";
  return unavailable(message, { reply, remedy, cause });
}

export const isAccountFault = (error: unknown) => error instanceof AppError && error.reply === reply;

/** Whether a request is too old to be repeated with the same key. Providers recognise a key for 24 hours. */
export const isOld = (row: { createdAt: string }, now: number): boolean =>
  now - Date.parse(row.createdAt) > 20 * 3_600_000;
