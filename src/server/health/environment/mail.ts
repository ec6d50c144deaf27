import { eq } from "drizzle-orm";
import { get, statement } from "../../db/statement.ts";
import { AppError } from "../../errors.ts";
import { tenants } from "../../modules/tenants/table.ts";
import { type CheckSubject, type EnvironmentCheck, type Finding, finding } from "../finding.ts";

const { namespace, status } = tenants;
const selectStore = statement((q) =>
  q.select({ namespace }).from(tenants).where(eq(status, "active")).orderBy(namespace).limit(1),
);

export const mail = {
  id: "mail",
  async run(subject) {
    const { ctx, config, command } = subject;
    if (config.smtpUrl !== undefined) return checkServer(subject);
    if (ctx === null) return [];
    const first = await get(ctx.db, selectStore);
    const init = command(first === undefined ? "init" : `init -n ${first.namespace}`);
    const message = "No mail server is configured, so reset codes and notices are not sent.";
    const remedy = `Set BODEGA_SMTP_URL and BODEGA_MAIL_FROM, for example in ${config.dataDir}/bodega.env, or run: ${init}`;
    return [finding("warning", "BODEGA_SMTP_URL", message, remedy)];
  },
} satisfies EnvironmentCheck;

async function checkServer({ config, timeoutMs }: CheckSubject): Promise<Finding[]> {
  const { hostname, host } = new URL(config.smtpUrl ?? "");
  // The mail client is loaded only if there is a mail server.
  const { runSmtpSession } = await import("../../modules/mail/smtp-session.ts");
  try {
    const timeouts = { connect: timeoutMs, greeting: timeoutMs, silence: timeoutMs };
    const session = await runSmtpSession({ url: config.smtpUrl ?? "", timeouts });
    if (session.encrypted || hostname === "localhost" || hostname === "[::1]" || hostname.startsWith("127.")) return [];
    const message = `The connection to the mail server ${host} does not use TLS: others can read reset codes on the way.`;
    const remedy = "Turn on TLS at the mail server, or use its TLS port with smtps: in BODEGA_SMTP_URL.";
    return [finding("warning", host, message, remedy)];
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    const remedy =
      error.kind === "wrongState"
        ? "Correct user and password in BODEGA_SMTP_URL; write @ : / and % in them as %40 %3A %2F %25."
        : "Correct host and port in BODEGA_SMTP_URL, or allow outgoing connections to it. Many providers block ports 25, 465 and 587.";
    return [finding("error", host, `The mail server cannot be used: ${error.message}`, remedy)];
  }
}
