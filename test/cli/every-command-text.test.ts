import { describe, expect, test } from "bun:test";
import { type CalledCommand, fullLine, listCalledCommands, runCall, shareCopies } from "./every-command.ts";
import { usePreparedShop } from "./prepared-shop.ts";
import { runHere } from "./run-here.ts";

const copyShop = usePreparedShop();
const copyFor = shareCopies(copyShop);
const commands = (await listCalledCommands()).map((called): [string, CalledCommand] => [called.name, called]);
/** Commands whose output must not be wrapped, because it is the content of a file, or JSON. */
const unlaid = new Set(["api", "mcp", "order export", "product export", "user export", "completion"]);
const laid = commands.filter(([name, { call }]) => !call.alone && !unlaid.has(name));
const ids = /\b(?:app|usr|prod|ord|line|ref|whk|evt|msg|reg|mail|tok)_\w{26}\b/g;

/** What a command that changes a record prints on standard error before the record. */
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
  "db test-restore": "The restored database is intact.",
};

/** Finds lines that are wider than the terminal. Single words and commands may be wider, so that they can be copied. */
function findWideLines(text: string, columns: number): string[] {
  const lines = Bun.stripANSI(text).split("\n");
  return lines.filter(
    (line) => Bun.stringWidth(line) > columns && /\S\s+\S/.test(line) && !/^ *(?:> )?(?:bodega|chmod|ssh) /.test(line),
  );
}

describe("every command prints no line that is wider than the terminal, complete ids, and a change before its record", () => {
  test.each(laid)("bodega %s", async (name, called) => {
    const shop = copyFor(called);
    const run = (columns?: number) => runCall(called, shop, fullLine(called, shop), columns);
    const narrow = await run(40);
    expect(findWideLines(narrow.stdout, 40)).toEqual([]);
    const sentence = sentences[name];
    expect(narrow.stderr).toStartWith(sentence ?? "");
    if (sentence) expect(narrow.stdout).not.toContain(sentence);
    if (/^(?:user|tenant) delete$/.test(name)) expect(Bun.stripANSI(narrow.stdout)).toMatch(/^Status +deleted$/m);
    if (called.call.answer !== "list") return;
    const { stdout } = await run(200);
    expect(findWideLines(stdout, 200)).toEqual([]);
    expect(stdout.match(ids)).toEqual((await run()).stdout.match(ids));
    // The … of a masked recipient is not a cut.
    expect(stdout.replaceAll("a…@example.com", "")).not.toContain("…");
  });
});

test("a narrow terminal shows the names of hidden columns below the table, except with -q", async () => {
  const { env } = copyShop();
  const { stdout, stderr } = await runHere(["user", "list", "-n", "demo"], { env, columns: 80 });
  expect(stdout).not.toContain("LAST SIGN-IN");
  expect(stderr).toMatch(/^Hidden columns: .*LAST SIGN-IN/);
  for (const flag of ["-q", "--json"]) {
    expect((await runHere(["user", "list", "-n", "demo", flag], { env, columns: 80 })).stderr).toBe("");
  }
  expect((await runHere(["user", "list", "-n", "demo"], { env })).stderr).toBe("");
});

test("no line of help is wider than the terminal", async () => {
  for (const path of [[], ...commands.map(([, called]) => called.path)]) {
    const { code, stdout, stderr } = await runHere([...path, "-h"], { env: {}, columns: 40 });
    expect([path, code, stderr, findWideLines(stdout, 40)]).toEqual([path, 0, "", []]);
  }
});
