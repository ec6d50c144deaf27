import type { Executor } from "../../src/server/db/session.ts";
import { createMailEngine, type MailDeps } from "../../src/server/modules/mail/delivery.ts";
import { type MailContents, openContents } from "../../src/server/modules/mail/outbox.ts";
import type { SmtpServer } from "../../src/server/modules/mail/smtp.ts";
import type { Vault } from "../../src/server/security/vault.ts";
import { parseFromAddress } from "../../src/server/values/email.ts";
import { vault as testVault } from "./app.ts";
import { withRuns } from "./run-until-idle.ts";

/** A mail in the outbox. */
export interface OutboxMail {
  id: string;
  kind: string;
  status: "waiting" | "sent" | "failed" | "expired" | "dropped";
  attempts: number;
  next_attempt_at: string;
  useful_until: string | null;
  last_error: string | null;
  finished_at: string | null;
  /** This field and the following are undefined after the content was erased. */
  to?: MailContents["to"];
  language?: string;
  values?: Record<string, string>;
  order?: MailContents["order"];
  thread?: string;
}

/** Returns all mail of a store, oldest first. Decrypts it with the key of the application under test. */
export async function readOutbox(
  { db, vault = testVault }: { db: Executor; vault?: Vault },
  namespace: string,
): Promise<OutboxMail[]> {
  const sql = `select m.id, kind, m.status, attempts, next_attempt_at, useful_until, last_error, finished_at, sealed
    from mail_outbox m join tenants t on t.id = m.tenant_id where namespace = ? order by m.created_at, m.id`;
  const { rows } = await db.execute({ sql, args: [namespace] });
  return rows.map((row) => {
    const { sealed, ...mail } = { ...row } as unknown as OutboxMail & { sealed: string | null };
    return { ...mail, ...(sealed === null ? {} : (openContents(vault, mail.id, sealed) as object)) };
  });
}

/** Returns the code in the store's latest reset mail that is still queued. */
export async function readResetCode(app: Parameters<typeof readOutbox>[0], namespace: string): Promise<string> {
  const mails = (await readOutbox(app, namespace)).filter(
    ({ kind, status }) => kind === "reset_code" && status === "waiting",
  );
  const code = mails.at(-1)?.values?.code;
  if (code === undefined) throw new Error("There is no mail with a reset code.");
  return code;
}

/** Returns an engine that sends the outbox of an application under test to a mail server. */
export function openSender(
  app: { db: MailDeps["db"]; clock: { now: () => number } },
  smtp: SmtpServer,
  more: Partial<MailDeps> = {},
) {
  const from = parseFromAddress("Mail of the tests <shop@example.com>");
  if (from === null) throw new Error("The sender's address is none.");
  return withRuns(createMailEngine({ db: app.db, vault: testVault, now: app.clock.now, smtp, from, ...more }));
}
