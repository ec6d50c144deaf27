import type { SMTPPoolOptions, SMTPPoolSentMessageInfo } from "nodemailer";
import { createTransport, type Transporter } from "nodemailer";

/** How long the steps of a conversation with a mail server may take, in milliseconds. */
export interface SmtpPatience {
  /** Name look-up and connection. */
  connect: number;
  /** Its first words. */
  greeting: number;
  /** Silence after that. */
  silence: number;
}

export interface SmtpServer {
  /** `smtp:` or `smtps:` address, checked by the configuration. */
  url: string;
  patience?: Partial<SmtpPatience> | undefined;
  /** Certificates to trust instead of the system's, in PEM. */
  trusted?: string | undefined;
}

/** Connections kept at once; also the number of mails in flight. */
export const maxConnections = 4;

const defaultPatience: SmtpPatience = { connect: 15_000, greeting: 15_000, silence: 20_000 };

/** What nodemailer needs to reach a server. Built here in full: an address cannot switch any check off. */
export function smtpOptions({ url, patience, trusted }: SmtpServer) {
  const { protocol, hostname, port, username, password } = new URL(url);
  const host = hostname.replace(/^\[|\]$/g, "");
  const hasCredentials = username !== "" || password !== "";
  const { connect, greeting, silence } = { ...defaultPatience, ...patience };
  return {
    host,
    port: port === "" ? (protocol === "smtps:" ? 465 : 587) : Number(port),
    secure: protocol === "smtps:",
    // Without credentials TLS is used where it is offered; a password never leaves the machine without it.
    requireTLS: protocol === "smtp:" && hasCredentials && !isLoopback(host),
    ...(hasCredentials && { auth: { user: decodeURIComponent(username), pass: decodeURIComponent(password) } }),
    tls: { rejectUnauthorized: true, minVersion: "TLSv1.2" as const, ...(trusted !== undefined && { ca: trusted }) },
    connectionTimeout: connect,
    dnsTimeout: connect,
    greetingTimeout: greeting,
    socketTimeout: silence,
    disableFileAccess: true,
    disableUrlAccess: true,
  };
}

/** Opens nothing yet: connections are made when there is something to send, and kept for what comes next. */
export function createSmtpPool(server: SmtpServer): Transporter<SMTPPoolSentMessageInfo, SMTPPoolOptions> {
  return createTransport({
    ...smtpOptions(server),
    pool: true,
    maxConnections: maxConnections,
    maxMessages: 100,
    // The outbox tries again by itself, and knows when.
    maxRequeues: 0,
  });
}

/** The credentials of an address, as texts that must not be repeated anywhere; too short ones would be found in any text. */
export function secretsOf(url: string): string[] {
  const { username, password } = new URL(url);
  return [password, username].flatMap((text) => [decodeURIComponent(text), text]).filter((text) => text.length > 3);
}

function isLoopback(host: string): boolean {
  return host === "localhost" || host === "::1" || /^127(?:\.\d{1,3}){3}$/.test(host);
}
