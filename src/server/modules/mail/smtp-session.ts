import SMTPConnection from "nodemailer/lib/smtp-connection";
import { unavailable, wrongState } from "../../errors.ts";
import { type SmtpServer, secretsOf, smtpOptions } from "./smtp.ts";
import { readSmtpFailure } from "./smtp-failure.ts";

/** `encrypted`: over TLS with a verified certificate. `authenticated`: the server asked for the credentials. */
interface SmtpOutcome {
  host: string;
  port: number;
  encrypted: boolean;
  authenticated: boolean;
  answer: string;
}

/**
 * Connects to a mail server, signs in, and sends a message if one is given.
 * @throws wrongState if it rejects the message or the credentials, unavailable. Messages name host and port, but no
 * secret.
 */
export async function runSmtpSession(
  server: SmtpServer,
  outgoing?: { envelope: { from: string; to: string[] }; raw: Buffer },
): Promise<SmtpOutcome> {
  const options = smtpOptions(server);
  const { host, port } = options;
  const { promise, resolve, reject } = Promise.withResolvers<SmtpOutcome>();
  const connection = new SMTPConnection(options);
  const fail = (error: unknown) => {
    connection.close();
    reject(error);
  };
  const finish = (authenticated: boolean, answer: string) => {
    resolve({ host, port, encrypted: connection.secure, authenticated, answer });
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
    return await promise;
  } catch (error) {
    const { isOutage, isCredentials, text } = readSmtpFailure(error, secretsOf(server.url));
    throw (isOutage && !isCredentials ? unavailable : wrongState)(`${host}:${port}: ${text}`, { cause: error });
  }
}
