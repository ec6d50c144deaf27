import { inTransaction } from "../../src/server/db/transaction.ts";
import type { EventType } from "../../src/server/modules/events/model.ts";
import { recordEvent } from "../../src/server/modules/events/service.ts";
import { listDeliveries } from "../../src/server/modules/webhooks/deliveries.ts";
import { createWebhookEngine, type WebhookDeps } from "../../src/server/modules/webhooks/delivery.ts";
import { addWebhook } from "../../src/server/modules/webhooks/service.ts";
import { vault } from "./app.ts";
import { createClock } from "./clock.ts";
import { tenantContext } from "./factories.ts";
import { type Receiver, startReceiver } from "./receiver.ts";
import { withRuns } from "./run-until-idle.ts";
import type { Suite } from "./suite.ts";

const receivers: Receiver[] = [];

/** Stops all receivers that were opened. */
export async function closeReceivers(): Promise<void> {
  await Promise.all(receivers.splice(0).map((receiver) => receiver.close()));
}

export async function openReceiver(...options: Parameters<typeof startReceiver>): Promise<Receiver> {
  const receiver = await startReceiver(...options);
  receivers.push(receiver);
  return receiver;
}

/**
 * Opens a store with its own clock, a webhook to a receiver, and an engine that sends. Deletes webhooks of other tests.
 */
export async function openHook(
  suite: Suite,
  options: {
    answer?: Parameters<typeof startReceiver>[0];
    types?: string[];
    url?: (receiver: Receiver) => string;
    sender?: Partial<WebhookDeps>;
  } = {},
) {
  await suite.app.db.execute("delete from webhooks");
  const shop = await suite.shop();
  const clock = createClock();
  const ctx = { ...(await tenantContext(shop)), now: clock.now };
  const receiver = await openReceiver(options.answer);
  const url = options.url?.(receiver) ?? receiver.url;
  const webhook = await addWebhook(ctx, { url, types: options.types, allowPrivate: true });
  const notices: string[] = [];
  const openSender = (more: Partial<WebhookDeps> = {}) =>
    withRuns(
      createWebhookEngine({
        db: suite.app.db,
        vault,
        now: clock.now,
        notice: (_level, message) => notices.push(message),
        ...options.sender,
        ...more,
      }),
    );
  return {
    shop,
    clock,
    ctx,
    receiver,
    webhook,
    notices,
    openSender,
    sender: openSender(),
    record: (type: EventType = "product.updated", subject = "prod_1") =>
      inTransaction(ctx, (tx) => recordEvent(tx, { type, subject, data: { version: 2 } })),
    deliveries: () => listDeliveries(ctx, webhook.webhook_id, { limit: 1000 }),
    /** Moves the clock to the next attempt of the waiting delivery. */
    async skipToNext() {
      const [next] = (await listDeliveries(ctx, webhook.webhook_id, { limit: 1, status: "waiting" })) ?? [];
      clock.advance(Date.parse(next?.next_attempt_at as string) - clock.now());
    },
  };
}
