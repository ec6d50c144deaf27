import { startSmtpServer } from "./smtp.ts";
import { until } from "./until.ts";

/** A mail server that keeps all mail that it receives. */
export type Mailbox = Awaited<ReturnType<typeof openMailbox>>;

/** Starts a mail server on a free port on loopback, without TLS and credentials. */
export async function openMailbox() {
  const { url, received, close } = await startSmtpServer();
  const read = () =>
    received.map(({ to: [to = ""], mail: { subject = "", text = "", html = "" } }) => ({ to, subject, text, html }));
  return {
    /** The value for `BODEGA_SMTP_URL`. */
    url,
    close,
    get received() {
      return read();
    },
    /** Waits until an address has received `nth` matching mails. Returns the last mail. */
    waitFor: (to: string, nth: number, matching = /(?:)/) =>
      until(`mail ${nth} to ${to}`, () => read().filter((mail) => mail.to === to && matching.test(mail.text))[nth - 1]),
  };
}
