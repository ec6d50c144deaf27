import { createTransport } from "nodemailer";
import { get } from "../../db/statement.ts";
import type { Answer, Attempt, Channel, ChannelDeps } from "../../delivery/channel.ts";
import type { DeadEnd } from "../../delivery/claim.ts";
import { DeliveryEngine } from "../../delivery/engine.ts";
import type { SchedulerPolicy } from "../../delivery/scheduler.ts";
import type { FromAddress } from "../../values/email.ts";
import { toTimestamp } from "../../values/stamps.ts";
import { backOfficeLink, composeMail, findRecipient } from "./compose.ts";
import { type ClaimedMail, mailQueue, openContents, selectDue } from "./outbox.ts";
import { renderMail } from "./render.ts";
import { type SmtpServer, secretsOf, smtpOptions } from "./smtp.ts";
import { readSmtpFailure } from "./smtp-failure.ts";

const delaysMs = [5, 15, 60, 300, 900, 3600, 21_600, 21_600, 21_600].map((seconds) => seconds * 1000);
const attemptMs = 50_000;
export const maxConnections = 4;

const source = { key: "outbox", tenantId: "", receiver: "the mail server" };
const permits = { total: maxConnections, tenant: maxConnections, receiver: maxConnections };
const policy: SchedulerPolicy = { permits, untrusted: permits, batch: 1, opensAfter: 1, maxRetryAfterMs: 0 };

export interface MailDeps extends ChannelDeps {
  smtp: SmtpServer;
  from: FromAddress;
  /** The server's public URL, if the server has one and serves the back office. */
  backOffice?: string | undefined;
}

export function createMailEngine(deps: MailDeps): DeliveryEngine<ClaimedMail> {
  const { notice = () => {} } = deps;
  // The pool does not retry: the outbox schedules retries.
  const pool = createTransport({
    ...smtpOptions(deps.smtp),
    pool: true,
    maxConnections,
    maxMessages: 100,
    maxRequeues: 0,
  });
  // Errors of idle connections do not matter. Each attempt opens a connection if needed, and reports its own error.
  pool.on("error", () => {});
  const secrets = secretsOf(deps.smtp.url);

  async function prepare(mail: ClaimedMail): Promise<Attempt | DeadEnd> {
    const isExpired = mail.usefulUntil !== null && Date.parse(mail.usefulUntil) <= deps.now();
    if (isExpired) return { outcome: "expired", error: null };
    const contents = mail.sealed === null ? null : openContents(deps.vault, mail.id, mail.sealed);
    if (contents === null) return { outcome: "failed", error: "encrypted with another secret key" };
    const found = await findRecipient(deps.db, mail.tenantId, mail.kind, contents.to);
    if (!found?.to) return { outcome: "dropped", error: null };
    const { store, to, kind } = found;
    const send = async (signal: AbortSignal): Promise<Answer> => {
      const { language, order, thread } = contents;
      const values = { ...contents.values, back_office: backOfficeLink(deps.backOffice, found, contents.values) };
      const rendered = renderMail({ kind, store, name: to.name, languages: [language, to.lang], values, order });
      // Short values, such as an order's number, occur in many replies, so only long ones are hidden in errors.
      const longValues = Object.values(values).filter((value) => value.length > 3);
      const message = composeMail({ id: mail.id, from: deps.from, store, to, rendered, at: deps.now(), thread });
      try {
        await pool.sendMail({ ...message, signal });
        return { result: "accepted", status: null, error: null, retryAfterMs: 0 };
      } catch (error) {
        const { isFinal, isOutage, text } = readSmtpFailure(error, [...longValues, ...secrets]);
        return { result: isOutage ? "failed" : "refused", isFinal, status: null, error: text, retryAfterMs: 0 };
      }
    };
    return { receiver: source.receiver, target: mail.id, timeoutMs: attemptMs, send };
  }

  const channel: Channel<ClaimedMail> = {
    queue: mailQueue,
    maxAttempts: delaysMs.length + 1,
    listReady: async () => ((await get(deps.db, selectDue, { now: toTimestamp(deps.now()) })) ? [source] : []),
    prepare,
    nextAttemptAt({ attempts }) {
      const delay = delaysMs[attempts - 1];
      return delay === undefined ? "failed" : deps.now() + delay;
    },
    describe: ({ id }) => id,
    notify(_mail, { error }, circuit) {
      if (circuit === "opened") notice("warn", `mail stays queued: ${error}`);
      if (circuit === "closed") notice("info", "the mail server accepts mail again");
    },
    close: () => pool.close(),
  };
  return new DeliveryEngine(channel, { ...deps, policy });
}
