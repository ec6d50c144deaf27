import type { AddressInfo } from "node:net";
import PostalMime from "postal-mime";
import { SMTPServer } from "smtp-server";
import { until } from "./until.ts";

/** A received mail, decoded. */
export interface ReceivedMail {
  to: string;
  subject: string;
  text: string;
  html: string;
}

/** A mail server that keeps all mail that it receives. */
export interface Mailbox {
  /** The value for `BODEGA_SMTP_URL`. */
  url: string;
  received: ReceivedMail[];
  /** Waits until an address has received `nth` matching mails. Returns the last one. */
  waitFor: (to: string, nth: number, matching?: RegExp) => Promise<ReceivedMail>;
  close: () => Promise<void>;
}

/** Starts a mail server on a free port on loopback, without TLS and credentials. */
export async function openMailbox(): Promise<Mailbox> {
  const received: ReceivedMail[] = [];
  const server = new SMTPServer({
    disabledCommands: ["AUTH", "STARTTLS"],
    onData(stream, { envelope }, done) {
      const chunks: Buffer[] = [];
      stream.on("data", (chunk: Buffer) => chunks.push(chunk));
      stream.on("end", async () => {
        const mail = await PostalMime.parse(Buffer.concat(chunks));
        const { subject = "", text = "", html = "" } = mail;
        for (const { address } of envelope.rcptTo) received.push({ to: address, subject, text, html });
        done();
      });
    },
  });
  server.on("error", () => {});
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", () => resolve()));
  const { port } = server.server.address() as AddressInfo;
  return {
    url: `smtp://127.0.0.1:${port}`,
    received,
    waitFor: (to, nth, matching = /(?:)/) =>
      until(`mail ${nth} to ${to}`, () => {
        const found = received.filter((mail) => mail.to === to && matching.test(mail.text));
        return found.length >= nth && found[nth - 1];
      }),
    close: () => new Promise((resolve) => server.close(() => resolve())),
  };
}
