import type { Database } from "../../db/session.ts";
import type { Vault } from "../../vault.ts";
import { expireMail, sweepMail } from "./due.ts";
import { parseFromAddress } from "./from-address.ts";

/** Beside a file a look costs microseconds; elsewhere it is a round trip. A second of milliseconds at most, with jitter. */
const everyMs = { file: 250, elsewhere: 2000 };
/** After the database could not answer. */
const restMs = 5000;
const tidyMs = 60_000;
/** What is being sent when the server stops may take as long. */
const graceMs = 5000;

interface MailUpkeepDeps {
  db: Database;
  vault: Vault;
  /** Epoch milliseconds. */
  now: () => number;
  /** As configured; without a server nothing is sent, and what has had its time is still erased. */
  smtpUrl: string | undefined;
  mailFrom: string | undefined;
  notice: (level: "info" | "warn", message: string) => void;
}

/** Looks after the outbox for as long as a server runs: sends what is due, ends what has had its time. */
export async function startMailUpkeep(deps: MailUpkeepDeps): Promise<{ stop(): Promise<void> }> {
  const { db, vault, now, notice } = deps;
  const tidy = setInterval(() => {
    void Promise.all([expireMail({ db, now }), sweepMail({ db, now })]).catch(() =>
      notice("warn", "old mail could not be swept"),
    );
  }, tidyMs);
  const sending = await startSending(deps, { db, vault, now, notice });
  return {
    async stop() {
      clearInterval(tidy);
      await sending?.stop();
    },
  };
}

async function startSending(
  { smtpUrl, mailFrom }: MailUpkeepDeps,
  { db, vault, now, notice }: Pick<MailUpkeepDeps, "db" | "vault" | "now" | "notice">,
): Promise<{ stop(): Promise<void> } | undefined> {
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
