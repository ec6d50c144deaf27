import type { Ctx } from "../../context.ts";
import { inTransaction } from "../../db/transaction.ts";
import { notFound, wrongState } from "../../errors.ts";
import { parseEmail } from "../../values/email.ts";
import { recordAudit } from "../audit/service.ts";
import { listGuestOrders } from "../orders/guests/persons.ts";
import { findSignInUser } from "../users/credentials.ts";
import { describeRetention, eraseAddress, exportAddress, exportOrders, requireEnded } from "./service.ts";

/**
 * Returns all data about an email address that no user has: orders, withdrawals and mails.
 * @throws validationFailed; wrongState if a user has the address; notFound if there are no data.
 */
export async function exportGuest(ctx: Ctx, address: string) {
  const { email, emailKey } = parseEmail("email", address);
  await requireNoUser(ctx, emailKey);
  const found = await requireKept(ctx, email, emailKey);
  const ids = found.own.map(({ id }) => String(id));
  const orders: object[] = [];
  for (let at = 0; at < ids.length; at += 100) {
    orders.push(...(await exportOrders(ctx, { ids: ids.slice(at, at + 100).join() })));
  }
  await recordAudit(ctx, { event: "user.exported" });
  const { withdrawals, mail } = found;
  return { email, orders, retention: await describeRetention(ctx), withdrawals, mail };
}

/** Erases an email address that no user has. Errors: as `exportGuest`; wrongState while an order is pending or paid. */
export function eraseGuest(ctx: Ctx, address: string): Promise<void> {
  const { email, emailKey } = parseEmail("email", address);
  return inTransaction(ctx, async (tx) => {
    await requireNoUser(tx, emailKey);
    const { own } = await requireKept(tx, email, emailKey);
    requireEnded(own, email);
    // Deletes stored replies with the ids of these orders, too.
    await eraseAddress(tx, { emailKey, own, named: own.map(({ id }) => String(id)) });
    await recordAudit(tx, { event: "user.erased" });
  });
}

async function requireNoUser(ctx: Ctx, emailKey: string): Promise<void> {
  const user = await findSignInUser(ctx.db, ctx.tenant.id, emailKey);
  if (user) throw wrongState(`${user.email} is the address of a user. Name the user instead of --email.`);
}

async function requireKept(ctx: Ctx, email: string, emailKey: string) {
  const own = await listGuestOrders(ctx, emailKey);
  const address = await exportAddress(ctx, emailKey);
  if (own.length + address.withdrawals.length + address.mail.length > 0) return { own, ...address };
  throw notFound("guest", email, { remedy: "No guest order, withdrawal or mail has this address." });
}
