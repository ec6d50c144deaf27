import type { Database } from "../../db/session.ts";
import type { Vault } from "../../vault.ts";
import { parseFromAddress } from "./from-address.ts";

/** Beside a file a look costs microseconds; elsewhere it is a round trip. A second of milliseconds at most, with jitter. */
const everyMs = { file: 250, elsewhere: 2000 };
/** After the database could not answer. */
const restMs = 5000;
/** What is being sent when the server stops may take as long. */
const graceMs = 5000;

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
  const pauseMs = db.kind === "file" || db.kind === "memory" ? everyMs.file : everyMs.elsewhere;
  let isStopping = false;
  let isFailing = false;
  let timer: ReturnType<typeof setTimeout>;

  /** Looks without waiting for what is being sent: a slow mail must not hold up the next one. */
  function look(): void {
    sender.runDue().then(
      () => {
        isFailing = false;
      },
      () => {
        if (!isFailing) notice("warn", "the outbox cannot be read or written; mail waits");
        isFailing = true;
      },
    );
    if (!isStopping) timer = setTimeout(look, isFailing ? restMs : pauseMs * (1 + Math.random()));
  }

  look();
  return {
    stop() {
      isStopping = true;
      clearTimeout(timer);
      return sender.stop(graceMs);
    },
  };
}
