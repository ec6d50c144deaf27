import type { Database } from "../../db/session.ts";
import { startPolling } from "../../delivery/poller.ts";
import type { Vault } from "../../security/vault.ts";
import { parseFromAddress } from "../../values/email.ts";

interface MailUpkeepDeps {
  db: Database;
  vault: Vault;
  /** Epoch milliseconds. */
  now: () => number;
  /** As configured; without a server nothing is sent. */
  smtpUrl: string | undefined;
  mailFrom: string | undefined;
  notice: (level: "info" | "warn", message: string) => void;
}

/** Sends what is due for as long as a server runs; undefined without a mail server. */
export async function startMailUpkeep({
  db,
  vault,
  now,
  smtpUrl,
  mailFrom,
  notice,
}: MailUpkeepDeps): Promise<{ stop(): Promise<void> } | undefined> {
  const from = mailFrom === undefined ? null : parseFromAddress(mailFrom);
  if (smtpUrl === undefined || from === null) return undefined;
  // Only a server that sends mail loads what that takes.
  const { createMailSender } = await import("./sender.ts");
  const sender = createMailSender({ db, vault, now, smtp: { url: smtpUrl }, from, notice });
  const looking = { look: () => sender.runDue(), stop: (graceMs: number) => sender.stop(graceMs) };
  return startPolling(db, looking, () => notice("warn", "the outbox cannot be read or written; mail waits"));
}
