import type { Session } from "../../db/session.ts";
import { drainWithin } from "../../delivery/poller.ts";
import type { Vault } from "../../security/vault.ts";
import type { FromAddress } from "../../values/email.ts";
import { composeMail } from "./compose.ts";
import { type DueMail, recordDelay, recordEnd, recordSent, returnDue, takeMail } from "./due.ts";
import { type MailContents, openContents } from "./outbox.ts";
import { findRecipient, type Recipient } from "./recipient.ts";
import { type MailStore, renderMail } from "./render.ts";
import { createSmtpPool, maxConnections, type SmtpServer, secretsOf } from "./smtp.ts";
import { readSmtpFailure } from "./smtp-failure.ts";

/** Waits between attempts; after the last of them there is one more attempt. */
const delaysMs = [5, 15, 60, 300, 900, 3600, 21_600, 21_600, 21_600].map((seconds) => seconds * 1000);
/** No attempt takes longer, however slowly a server speaks. */
const attemptMs = 100_000;
/** Waits between tries to note that a mail was sent: a note that fails means a mail that arrives twice. */
const noteDelaysMs = [500, 2000, 8000];

export interface MailSenderDeps {
  db: Session;
  vault: Vault;
  /** Epoch milliseconds. */
  now: () => number;
  smtp: SmtpServer;
  from: FromAddress;
  /** Told what an operator should know: that the mail server fails, that it is back, that a mail has failed for good. */
  notice?: (level: "info" | "warn", message: string) => void;
}

export interface MailSender {
  /**
   * Sends what is due, a few at a time.
   * @returns how many attempts were made.
   * @throws unavailable when the database cannot serve; what was taken is tried again later.
   */
  runDue(): Promise<number>;
  /** Takes nothing more, waits for what is being sent, and breaks off what is left after `timeoutMs`. */
  stop(timeoutMs: number): Promise<void>;
}

/** Makes the sender of a server's outbox. Any number of them, in any number of processes, send each mail once. */
export function createMailSender(deps: MailSenderDeps): MailSender {
  const { notice = () => {} } = deps;
  const pool = createSmtpPool(deps.smtp);
  // Connections are made anew when needed; what broke is told by the attempts themselves.
  pool.on("error", () => {});
  const secrets = secretsOf(deps.smtp.url);
  const sending = new Set<AbortController>();
  let isHalted = false;
  const lanes = new Set<Promise<number>>();
  let busy = 0;
  let isStopping = false;
  let isOut = false;

  /** Sends mail after mail; as long as there is more, another lane is started beside it. */
  async function runLane(): Promise<number> {
    if (isStopping || busy >= maxConnections) return 0;
    const beside: Promise<number>[] = [];
    let attempts = 0;
    busy += 1;
    try {
      while (!isStopping) {
        const mail = await takeMail(deps);
        if (!mail) break;
        beside.push(startLane());
        await attempt(mail);
        attempts += 1;
      }
    } finally {
      busy -= 1;
    }
    return (await Promise.all(beside)).reduce((total, count) => total + count, attempts);
  }

  function startLane(): Promise<number> {
    const lane = runLane().finally(() => lanes.delete(lane));
    lanes.add(lane);
    // Whoever started it hears of its failure, maybe only later.
    lane.catch(() => {});
    return lane;
  }

  async function attempt(mail: DueMail): Promise<void> {
    if (mail.attempts > delaysMs.length + 1) return end(mail, "failed", "every attempt was broken off");
    const contents = mail.sealed === null ? null : openContents(deps.vault, mail.id, mail.sealed);
    if (contents === null) return end(mail, "failed", "sealed with another secret key");
    const found = await findRecipient(deps.db, mail.tenant_id, contents.to);
    if (!found) return;
    if (found.to === null) return end(mail, "dropped", null);
    try {
      await send(mail, contents, { store: found.store, to: found.to });
    } catch (error) {
      // Broken off by our own stop, it may have arrived; but twice is better than after its code has run out.
      return isHalted ? returnDue(deps, mail) : fail(mail, contents, error);
    }
    if (isOut) notice("info", "the mail server takes mail again");
    isOut = false;
    await note(mail);
  }

  async function send(
    mail: DueMail,
    { language, values }: MailContents,
    { store, to }: { store: MailStore; to: Recipient },
  ): Promise<void> {
    const rendered = renderMail({ kind: mail.kind, store, name: to.name, languages: [language, to.lang], values });
    const message = composeMail(mail.id, deps.from, store, to, rendered, deps.now());
    const breaker = new AbortController();
    const timer = setTimeout(() => breaker.abort(), attemptMs);
    sending.add(breaker);
    // Taken just before the stop, too late to be broken off with the others.
    if (isHalted) breaker.abort();
    try {
      await pool.sendMail({ ...message, signal: breaker.signal });
    } finally {
      clearTimeout(timer);
      sending.delete(breaker);
    }
  }

  async function note(mail: DueMail): Promise<void> {
    for (const delay of noteDelaysMs) {
      try {
        return await recordSent(deps, mail);
      } catch {
        await Bun.sleep(delay);
      }
    }
    await recordSent(deps, mail);
  }

  async function fail(mail: DueMail, contents: MailContents, error: unknown): Promise<void> {
    const { isFinal, isOutage, text } = readSmtpFailure(error, [...Object.values(contents.values), ...secrets]);
    if (isOutage && !isOut) notice("warn", `mail waits in the outbox: ${text}`);
    if (isOutage) isOut = true;
    const next = nextAttempt(mail, deps.now());
    if (isFinal || next === null) return end(mail, "failed", text);
    await recordDelay(deps, mail, next, text);
  }

  async function end(mail: DueMail, status: "failed" | "dropped", error: string | null): Promise<void> {
    await recordEnd(deps, mail, status, error);
    if (status === "failed") notice("warn", `${mail.id} failed: ${error}`);
  }

  return {
    runDue: startLane,
    async stop(timeoutMs) {
      isStopping = true;
      await drainWithin(
        timeoutMs,
        () => [...lanes],
        () => {
          isHalted = true;
          for (const breaker of sending) breaker.abort();
        },
      );
      pool.close();
    },
  };
}

/**
 * When a mail is tried again, in epoch milliseconds; null when that was the last time. A mail that is useful for a short
 * while only is tried sooner than its turn, so that its last attempt still comes in time.
 */
function nextAttempt({ attempts, useful_until }: DueMail, now: number): number | null {
  const delay = delaysMs[attempts - 1];
  if (delay === undefined) return null;
  const left = useful_until === null ? Number.POSITIVE_INFINITY : Date.parse(useful_until) - now;
  return now + Math.min(delay, Math.max(left / 2, delaysMs[0] as number));
}
