import type { Database } from "../../db/session.ts";
import { startPolling } from "../../delivery/poller.ts";
import { createWebhookSender, type WebhookSenderDeps } from "./sender.ts";

/** Tells webhooks of events for as long as a server runs. Any number of servers may do so beside one another. */
export function startWebhookUpkeep(deps: WebhookSenderDeps & { db: Database }): { stop(): Promise<void> } {
  const { db, notice = () => {} } = deps;
  return startPolling(db, createWebhookSender(deps), () =>
    notice("warn", "webhooks cannot be read or written; their events wait"),
  );
}
