import SMTPConnection from "nodemailer/lib/smtp-connection";
import { unavailable, wrongState } from "../../errors.ts";
import { type SmtpServer, secretsOf, smtpOptions } from "./smtp.ts";
import { readSmtpFailure } from "./smtp-failure.ts";

/** What a mail server let us do. */
export interface SmtpProbe {
  host: string;
  port: number;
  /** Whether the conversation went over TLS, with a certificate that was verified. */
  encrypted: boolean;
  /** Whether the server asked for the credentials, and took them. */
  authenticated: boolean;
}

/**
 * Speaks with a mail server up to the login, and sends nothing.
 * @throws wrongState when it refuses the credentials, unavailable when it cannot be reached; the message names host and port, and
 * no secret.
 */
export async function probeSmtp(server: SmtpServer): Promise<SmtpProbe> {
  const options = smtpOptions(server);
  const { host, port } = options;
  try {
    return { host, port, ...(await greet(options)) };
  } catch (error) {
    const { text } = readSmtpFailure(error, secretsOf(server.url));
    throw (text.startsWith("EAUTH") ? wrongState : unavailable)(`${host}:${port}: ${text}`, { cause: error });
  }
}

function greet(options: ReturnType<typeof smtpOptions>): Promise<Pick<SmtpProbe, "encrypted" | "authenticated">> {
  const { promise, resolve, reject } = Promise.withResolvers<Pick<SmtpProbe, "encrypted" | "authenticated">>();
  const connection = new SMTPConnection(options);
  const fail = (error: unknown) => {
    connection.close();
    reject(error);
  };
  const finish = (authenticated: boolean) => {
    resolve({ encrypted: connection.secure, authenticated });
    connection.quit();
  };
  connection.once("error", fail);
  // What ended the connection is often told only after its end.
  connection.once("end", () => setTimeout(fail, 50, Object.assign(new Error("ended"), { code: "ECONNECTION" })));
  connection.connect((error) => {
    if (error) return fail(error);
    if (!options.auth || !connection.allowsAuth) return finish(false);
    connection.login(options.auth, (refusal) => (refusal ? fail(refusal) : finish(true)));
  });
  return promise;
}
