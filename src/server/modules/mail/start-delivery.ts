import type { Database } from "../../db/session.ts";
import { startPolling } from "../../delivery/poller.ts";
import type { Vault } from "../../security/vault.ts";
import { parseFromAddress } from "../../values/email.ts";

/**
 * Sends the mail of the outbox for as long as a server runs; undefined without a mail server.
 * @param deps smtpUrl, mailFrom: as configured; now: epoch milliseconds.
 */
export async function startMailDelivery(deps: {
  db: Database;
  vault: Vault;
  now: () => number;
  smtpUrl: string | undefined;
  mailFrom: string | undefined;
  notice: (level: "info" | "warn", message: string) => void;
}): Promise<{ stop(): Promise<void> } | undefined> {
  const { db, smtpUrl: url, mailFrom, notice } = deps;
  const from = mailFrom === undefined ? null : parseFromAddress(mailFrom);
  if (url === undefined || from === null) return undefined;
  // Only a server that sends mail loads the SMTP library.
  const { createMailEngine } = await import("./delivery.ts");
  const engine = createMailEngine({ ...deps, smtp: { url }, from });
  return startPolling(db, engine, () => notice("warn", "the database does not answer; mail stays queued"));
}
