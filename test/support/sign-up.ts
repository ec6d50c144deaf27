import { goodPassword } from "./account.ts";
import type { ApiReply } from "./client.ts";
import type { Shop } from "./factories.ts";
import { openSender, readOutbox } from "./mail.ts";
import { startSmtpServer } from "./smtp.ts";

/** Signs up with the shop's key, from a new address each time. */
export function signUp(shop: Shop, email: string, more: Record<string, unknown> = {}): Promise<ApiReply> {
  return shop.call("POST /users/sign-up/", { body: { email, password: goodPassword, ...more } });
}

/** Verifies a sign-up with the shop's key, from a new address each time. */
export function verify(shop: Shop, email: string, code: string, password = goodPassword): Promise<ApiReply> {
  return shop.call("POST /users/verify/", { body: { email, code, password } });
}

/** Returns the code in the latest queued mail of a kind. */
export async function readCode({ app, namespace }: Shop, kind: string): Promise<string> {
  const mails = (await readOutbox(app, namespace)).filter((mail) => mail.kind === kind && mail.status === "waiting");
  const code = mails.at(-1)?.values?.code;
  if (code === undefined) throw new Error(`There is no ${kind} mail with a code.`);
  return code;
}

/** Sends all queued mail through a real SMTP server. Returns the mails that the store's recipients get. */
export async function deliverMail({ app, namespace }: Shop): Promise<{ to: string; subject: string; text: string }[]> {
  const server = await startSmtpServer();
  const sender = openSender(app, { url: server.url });
  try {
    await sender.runUntilIdle();
    const mails = server.received.map(({ to, mail }) => ({
      to: to.join(", "),
      subject: mail.subject ?? "",
      text: mail.text ?? "",
    }));
    return mails.filter(({ text }) => text.includes(namespace));
  } finally {
    await sender.stop(1000);
    await server.close();
  }
}

/** Returns the six digits in the text of a mail. */
export function codeIn(text: string | undefined): string {
  const code = /^\d{6}$/m.exec(text ?? "")?.[0];
  if (code === undefined) throw new Error(`There is no code in: ${text}`);
  return code;
}
