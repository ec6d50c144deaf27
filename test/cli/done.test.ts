import { describe, expect, test } from "bun:test";
import { type CalledCommand, fullLine, listCalledCommands, runCall } from "./every-command.ts";
import { usePreparedShop } from "./prepared-shop.ts";
import { runHere } from "./run-here.ts";

const copyShop = usePreparedShop();
const commands = new Map((await listCalledCommands()).map((called) => [called.name, called]));

/** What commands print on standard error before they print the record. */
const sentences: Record<string, string> = {
  "tenant create": "Created store new-store.",
  "tenant update": "Updated store demo.",
  "tenant suspend": "Suspended store demo.",
  "tenant resume": "Resumed store demo.",
  "tenant delete": "Deleted store demo.",
  "key issue": "Issued key backend.",
  "key update": "Updated key storefront.",
  "key publish": "Published key web.",
  "key unpublish": "Unpublished key web.",
  "key activate": "Activated key web.",
  "key deactivate": "Deactivated key web.",
  "key rotate": "Replaced the secret of key web.",
  "key retire": "Expired the old secrets of key web.",
  "key revoke": "Revoked key web.",
  "origin add": "Added origins to key web.",
  "origin remove": "Removed origins from key web.",
  "origin set": "Replaced the origins of key web.",
  "user create": "Created user new@example.com.",
  "user update": "Updated user ada@example.com.",
  "user set-password": "Set the password of user ada@example.com.",
  "user disable": "Disabled user ada@example.com.",
  "user enable": "Enabled user ada@example.com.",
  "user delete": "Deleted user ada@example.com.",
  "webhook add": "Added webhook https://example.com/more.",
  "webhook rotate": "Replaced the secret of webhook http",
  "webhook remove": "Removed webhook http",
  "webhook replay": "Queued 1 event again.",
  "product create": "Created product ",
  "product update": "Updated product ",
  "product stock": "Changed the stock of product ",
  "product delete": "Deleted product ",
  "order create": "Placed order 4.",
  "order pay": "Booked a payment of order 2.",
  "order fulfill": "Recorded a parcel of order 1.",
  "order accept": "Recorded the decision about order 3.",
  "order note": "Changed the note of order 1.",
  "order revoke-access": "Revoked the links to order 2.",
  "discount create": "Created discount code SUMMER10.",
  "discount end": "Ended discount code WELCOME.",
  "order cancel": "Cancelled order 2.",
  "order refund": "Recorded the refund of order 1.",
  "token revoke": "Revoked 1 token.",
  "mail retry": "Queued 1 mail again.",
  "mail resend": "Queued the mail to ",
  "mail template set": "Changed the texts of order_paid mails (en).",
  "mail template reset": "The built-in texts of order_paid mails (en) are used again.",
  "notify send": "Queued the notification.",
  "notify remove": "Removed device reg_",
};

describe("a command that changed something says what it did, before the record", () => {
  test.each(Object.entries(sentences))("bodega %s", async (name, sentence) => {
    const called = commands.get(name) as CalledCommand;
    const shop = copyShop();
    const { code, stdout, stderr } = await runCall(called, shop, fullLine(called, shop));
    expect(code).toBe(0);
    expect(stderr).toStartWith(sentence);
    expect(stdout).not.toContain(sentence);
  });
});

test("a deleted user or store is not printed as active", async () => {
  for (const line of [
    ["user", "delete", "ada@example.com", "-n", "demo", "--confirm", "ada@example.com"],
    ["tenant", "delete", "demo", "--confirm", "demo"],
  ]) {
    const { stdout } = await runHere(line, { env: copyShop().env });
    expect(stdout).toMatch(/^Status +deleted$/m);
  }
});
