import type { Database } from "../db/session.ts";
import type { ChannelDeps } from "../delivery/channel.ts";
import { type PaymentDeps, pollEvents, readDueCheckouts } from "../modules/payments/jobs.ts";
import { createRefundEngine } from "../modules/payments/refund-delivery.ts";

/** Orders whose payment page is open expire within 15 seconds, because two jobs do it one after the other. */
const everyMs = 5000;

/** Requests refunds, and reads payment pages and events that their providers could not report. */
export function startPaymentJobs(deps: PaymentDeps & ChannelDeps & { db: Database }) {
  const engine = createRefundEngine(deps).start(deps.db, "refunds stay requested");
  let running: Promise<void> | undefined;
  let isStopping = false;
  const work = async () => {
    for (const job of [readDueCheckouts, pollEvents]) {
      if (!isStopping) await job(deps);
    }
  };
  const timer = setInterval(() => {
    running ??= work()
      .catch(() => deps.notice?.("warn", "payment pages could not be read; the next check tries again"))
      .finally(() => {
        running = undefined;
      });
  }, everyMs);
  return {
    async stop() {
      isStopping = true;
      clearInterval(timer);
      await Promise.all([running, engine.stop()]);
    },
  };
}
