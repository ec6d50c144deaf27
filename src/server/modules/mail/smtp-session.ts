import SMTPConnection from "nodemailer/lib/smtp-connection";
import { type AppError, unavailable, wrongState } from "../../errors.ts";
import { type SmtpServer, secretsOf, smtpOptions } from "./smtp.ts";
import { readSmtpFailure } from "./smtp-failure.ts";

/** What a mail server permitted. */
export interface SmtpSession {
  host: string;
  port: number;
  /** Whether the session used TLS, with a certificate that was verified. */
  encrypted: boolean;
  /** Whether the server asked for the credentials, and accepted them. */
  authenticated: boolean;
}

/** A message, and where it goes. */
interface Outgoing {
  envelope: { from: string; to: string[] };
  raw: Buffer;
}

/**
 * Connects to a mail server, signs in, and sends nothing.
 * @throws wrongState when it rejects the credentials, unavailable when it cannot be reached; the message names host and
 * port, and holds no secret.
 */
export async function probeSmtp(server: SmtpServer): Promise<SmtpSession> {
  return (await runSession(server)).session;
}

/**
 * Sends one message. @returns the session, and the server's answer.
 * @throws wrongState when it rejects the message or the credentials, unavailable when it cannot be reached.
 */
export function sendInSession(
  server: SmtpServer,
  outgoing: Outgoing,
): Promise<{ session: SmtpSession; answer: string }> {
  return runSession(server, outgoing);
}

async function runSession(server: SmtpServer, outgoing?: Outgoing) {
  const options = smtpOptions(server);
  const { host, port } = options;
  const { promise, resolve, reject } = Promise.withResolvers<{ session: SmtpSession; answer: string }>();
  const connection = new SMTPConnection(options);
  const fail = (error: unknown) => {
    connection.close();
    reject(error);
  };
  const finish = (authenticated: boolean, answer: string) => {
    resolve({ session: { host, port, encrypted: connection.secure, authenticated }, answer });
    connection.quit();
  };
  const proceed = (authenticated: boolean) => {
    if (!outgoing) return finish(authenticated, "");
    connection.send(outgoing.envelope, outgoing.raw, (error, info) =>
      error || !info ? fail(error) : finish(authenticated, info.response),
    );
  };
  connection.once("error", fail);
  // The reason for the end often comes only after it.
  connection.once("end", () => setTimeout(fail, 50, Object.assign(new Error("ended"), { code: "ECONNECTION" })));
  connection.connect((error) => {
    if (error) return fail(error);
    if (!options.auth || !connection.allowsAuth) return proceed(false);
    connection.login(options.auth, (refusal) => (refusal ? fail(refusal) : proceed(true)));
  });
  try {
    return await promise;
  } catch (error) {
    throw sessionError(error, server, `${host}:${port}`);
  }
}

function sessionError(error: unknown, { url }: SmtpServer, place: string): AppError {
  const { isOutage, isCredentials, text } = readSmtpFailure(error, secretsOf(url));
  return (isOutage && !isCredentials ? unavailable : wrongState)(`${place}: ${text}`, { cause: error });
}
