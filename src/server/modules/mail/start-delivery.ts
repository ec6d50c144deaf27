import type { Database } from "../../db/session.ts";
import type { ChannelDeps } from "../../delivery/channel.ts";
import { parseFromAddress } from "../../values/email.ts";

/**
 * Sends the mail of the outbox for as long as a server runs; undefined without a mail server.
 * @param deps smtpUrl, mailFrom: as configured.
 */
export async function startMailDelivery(
  deps: Required<ChannelDeps> & { db: Database; smtpUrl: string | undefined; mailFrom: string | undefined },
): Promise<{ stop(): Promise<void> } | undefined> {
  const { smtpUrl: url, mailFrom } = deps;
  const from = mailFrom === undefined ? null : parseFromAddress(mailFrom);
  if (url === undefined || from === null) return undefined;
  // Only a server that sends mail loads the SMTP library.
  const { createMailEngine } = await import("./delivery.ts");
  return createMailEngine({ ...deps, smtp: { url }, from }).start(deps, "mail stays queued");
}
