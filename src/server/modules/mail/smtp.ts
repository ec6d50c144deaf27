import { createTransport } from "nodemailer";
import SMTPConnection from "nodemailer/lib/smtp-connection";
import { unavailable, wrongState } from "../../errors.ts";
import { readSmtpFailure } from "./smtp-failure.ts";

/** Timeouts of the steps of an SMTP session, in milliseconds; `silence` applies after the greeting. */
const defaultTimeouts = { connect: 15_000, greeting: 15_000, silence: 20_000 };

export interface SmtpServer {
  url: string;
  timeouts?: Partial<typeof defaultTimeouts> | undefined;
  trusted?: string | undefined;
}

export const maxConnections = 4;

/** Options of nodemailer. All are set here, so that a URL cannot disable a check. */
export function smtpOptions({ url, timeouts, trusted }: SmtpServer) {
  const { protocol, hostname, port, username, password } = new URL(url);
  const host = hostname.replace(/^\[|\]$/g, "");
  const hasCredentials = username !== "" || password !== "";
  const { connect, greeting, silence } = { ...defaultTimeouts, ...timeouts };
  return {
    host,
    port: port === "" ? (protocol === "smtps:" ? 465 : 587) : Number(port),
    secure: protocol === "smtps:",
    // Without credentials, TLS is used if the server offers it. A password never leaves the machine without TLS.
    requireTLS: protocol === "smtp:" && hasCredentials && !/^(?:localhost|::1|127(?:\.\d{1,3}){3})$/.test(host),
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

export function createSmtpPool(server: SmtpServer) {
  return createTransport({
    ...smtpOptions(server),
    pool: true,
    maxConnections,
    maxMessages: 100,
    // The outbox schedules retries.
    maxRequeues: 0,
  });
}

/** Returns the credentials in a URL, to remove them from texts. Omits those of up to three characters. */
export function secretsOf(url: string): string[] {
  const { username, password } = new URL(url);
  return [password, username].flatMap((text) => [decodeURIComponent(text), text]).filter((text) => text.length > 3);
}

/**
 * Connects to a mail server, signs in, and sends a message if one is given.
 * @returns `encrypted`: over TLS with a verified certificate; `authenticated`: the server asked for the credentials.
 * @throws wrongState if it rejects the message or the credentials, unavailable. Messages name host and port, but no
 * secret.
 */
export async function runSmtpSession(
  server: SmtpServer,
  outgoing?: { envelope: { from: string; to: string[] }; raw: Buffer },
) {
  const options = smtpOptions(server);
  const { host, port } = options;
  const { promise, resolve, reject } = Promise.withResolvers<{ authenticated: boolean; answer: string }>();
  const connection = new SMTPConnection(options);
  const fail = (error: unknown) => {
    connection.close();
    reject(error);
  };
  const finish = (authenticated: boolean, answer: string) => {
    resolve({ authenticated, answer });
    connection.quit();
  };
  const proceed = (authenticated: boolean) => {
    if (!outgoing) return finish(authenticated, "");
    connection.send(outgoing.envelope, outgoing.raw, (error, info) =>
      error || !info ? fail(error) : finish(authenticated, info.response),
    );
  };
  connection.once("error", fail);
  // The error that explains why the connection ended often arrives after the end.
  connection.once("end", () => setTimeout(fail, 50, Object.assign(new Error("ended"), { code: "ECONNECTION" })));
  connection.connect((error) => {
    if (error) return fail(error);
    if (!options.auth || !connection.allowsAuth) return proceed(false);
    connection.login(options.auth, (refusal) => (refusal ? fail(refusal) : proceed(true)));
  });
  try {
    const outcome = await promise;
    return { host, port, encrypted: connection.secure, ...outcome };
  } catch (error) {
    const { isOutage, isCredentials, text } = readSmtpFailure(error, secretsOf(server.url));
    throw (isOutage && !isCredentials ? unavailable : wrongState)(`${host}:${port}: ${text}`, { cause: error });
  }
}
