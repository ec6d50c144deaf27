import { createTransport, type Transporter } from "nodemailer";
import { unavailable, wrongState } from "../../errors.ts";
import { readSmtpFailure } from "./smtp-failure.ts";

export interface SmtpServer {
  url: string;
  /** How long each step of a session may take, in milliseconds. */
  timeoutMs?: number | undefined;
  trusted?: string | undefined;
}

/** Returns the options of nodemailer. All are set here, so that a URL cannot disable a check. */
export function smtpOptions({ url, timeoutMs = 20_000, trusted }: SmtpServer) {
  const { protocol, hostname, port, username, password } = new URL(url);
  const host = hostname.replace(/^\[|\]$/g, "");
  const hasCredentials = username !== "" || password !== "";
  return {
    host,
    port: port === "" ? (protocol === "smtps:" ? 465 : 587) : Number(port),
    secure: protocol === "smtps:",
    // Without credentials, TLS is used if the server offers it. A password never leaves the machine without TLS.
    requireTLS: protocol === "smtp:" && hasCredentials && !/^(?:localhost|::1|127(?:\.\d{1,3}){3})$/.test(host),
    ...(hasCredentials && { auth: { user: decodeURIComponent(username), pass: decodeURIComponent(password) } }),
    tls: { rejectUnauthorized: true, minVersion: "TLSv1.2" as const, ...(trusted !== undefined && { ca: trusted }) },
    connectionTimeout: timeoutMs,
    dnsTimeout: timeoutMs,
    greetingTimeout: timeoutMs,
    socketTimeout: timeoutMs,
    disableFileAccess: true,
    disableUrlAccess: true,
  };
}

/** Returns the credentials in a URL, which texts must not repeat. Leaves out credentials of up to three characters. */
export function secretsOf(url: string): string[] {
  const { username, password } = new URL(url);
  return [password, username].flatMap((text) => [decodeURIComponent(text), text]).filter((text) => text.length > 3);
}

/**
 * Runs `work` with a connection to a mail server, without the outbox.
 * @throws wrongState if the server rejects the message or the credentials, unavailable if the server cannot be used.
 * Messages name host and port, but no secret.
 */
export async function withTransport<T>(server: SmtpServer, work: (transport: Transporter) => Promise<T>): Promise<T> {
  const options = smtpOptions(server);
  try {
    return await work(createTransport(options));
  } catch (error) {
    const { isOutage, isCredentials, text } = readSmtpFailure(error, secretsOf(server.url));
    const kind = isOutage && !isCredentials ? unavailable : wrongState;
    throw kind(`${options.host}:${options.port}: ${text}`, { cause: error });
  }
}

/** Connects and signs in. Returns whether TLS works with a verified certificate. Errors: those of `withTransport`. */
export async function checkServer(server: SmtpServer): Promise<boolean> {
  await withTransport(server, (transport) => transport.verify());
  const strict = createTransport({ ...smtpOptions(server), requireTLS: true });
  return strict.verify().catch(() => false);
}
