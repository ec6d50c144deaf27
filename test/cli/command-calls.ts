import { createHash } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { quoteWord } from "../../src/server/values/shell-quote.ts";
import type { PreparedShop } from "./prepared-shop.ts";
import { command as program, type Step } from "./run-bodega.ts";

/** A password that satisfies every rule. */
export const typedSecret = "Marmalade-Teapot-73";

/** A successful call of a command on the prepared shop, with its properties that tests need. */
export interface CommandCall {
  /** Returns all arguments; the command then asks only the questions in `asks`. */
  args(shop: PreparedShop): string[];
  /** Returns the prompts that are not for required arguments, with answers. */
  asks?(shop: PreparedShop): Step[];
  /** Returns flags with the same answers as `asks`. A command without such flags works only at a terminal. */
  instead?(shop: PreparedShop): string[];
  /** Standard input that replaces prompts. Used together with `instead`. */
  input?: string;
  /** Whether `--json` prints a list of records or one value. */
  answer: "list" | "value";
  /** Returns further arguments that `--json` needs, such as a file for other output. */
  jsonArgs?(shop: PreparedShop): string[];
  /** The output of `-q`. By default, each line is a value of the JSON output or of its rows. Null: no output. */
  quiet?: RegExp | null;
  /** The exit code of the call. Default: 0. */
  code?: number;
  /** The command needs its own process, because it is a server, or uses the database alone until its process ends. */
  alone?: boolean;
  /** The command is a server, which runs until it is stopped. */
  server?: "is";
  /** The command does not fail without a database, because it creates one or needs none. */
  needsNoShop?: boolean;
  /** The output contains a secret, which nothing else may contain. */
  makesSecret?: boolean;
}

const demo = ["-n", "demo"];
const ada = "ada@example.com";
const toZurich = ["--line1", "1 Street", "--city", "Zürich", "--country", "CH"];
const yes = () => ["--yes"];
const passwordTwice: Step[] = [
  ["New password", `${typedSecret}\r`],
  ["Repeat the password", `${typedSecret}\r`],
];
const confirmed = (question: string): Step[] => [[question, "y\r"]];

const record = (args: CommandCall["args"], more: Partial<CommandCall> = {}): CommandCall => ({
  args,
  answer: "value",
  ...more,
});
const list = (args: CommandCall["args"], more: Partial<CommandCall> = {}): CommandCall => ({
  args,
  answer: "list",
  ...more,
});

const newShop = "-n opened --title Opened --currency EUR --language en --country DE --key-name web --no-serve".split(
  " ",
);

/** Writes an executable of this same version. Returns its path and checksum as arguments. */
function makeProgram(dir: string): string[] {
  const path = join(dir, "next-bodega");
  const text = `#!/bin/sh\nexec ${program.map(quoteWord).join(" ")} "$@"\n`;
  writeFileSync(path, text, { mode: 0o755 });
  writeFileSync(join(dir, "SHA256SUMS"), `${createHash("sha256").update(text).digest("hex")}  next-bodega\n`);
  return [path];
}

/** The calls of all commands, by path. A missing command fails the tests that run all commands. */
export const commandCalls: Record<string, CommandCall> = {
  serve: record(() => ["--port", "0"], { server: "is", alone: true, needsNoShop: true }),
  standby: record(({ dir }) => ["--from", join(dir, "replica"), "--port", "0", "--data-dir", join(dir, "standby")], {
    server: "is",
    alone: true,
    needsNoShop: true,
  }),
  init: record(() => [...newShop, "--owner-email", "eve@example.com", "--owner-name", "Eve"], {
    asks: () => [...passwordTwice, ["Sites whose pages may use the key", "\r"], ...confirmed("Publish the key now?")],
    instead: () => ["--password-stdin", "--publish"],
    input: `${typedSecret}\n`,
    needsNoShop: true,
    makesSecret: true,
    quiet: /^app_\w{26}:\S{40,}$/,
  }),
  todo: list(() => demo),
  api: record(() => ["GET", "/store/", ...demo], { quiet: /^\{/ }),
  mcp: record(() => demo, { input: '{"jsonrpc":"2.0","id":1,"method":"ping"}\n', quiet: /^\{/ }),
  demo: record(({ dir }) => ["--port", "0", "--no-open", "--data-dir", join(dir, "demo")], {
    server: "is",
    alone: true,
    needsNoShop: true,
    makesSecret: true,
  }),
  health: record(() => ["--url", "http://127.0.0.1:1"], { quiet: null, code: 1, needsNoShop: true }),
  doctor: record(() => [], { needsNoShop: true }),
  "tenant create": record(() => ["new-store"], { needsNoShop: true }),
  "tenant list": list(() => []),
  "tenant show": record(() => ["demo"]),
  "tenant update": record(() => ["demo", "--title", "Another"]),
  "tenant suspend": record(() => ["demo"], { asks: () => confirmed("Suspend store demo?"), instead: yes }),
  "tenant resume": record(() => ["demo"]),
  "tenant delete": record(() => ["demo"], {
    asks: () => [["Type demo to continue:", "demo\r"]],
    instead: () => ["--confirm", "demo"],
  }),
  "key issue": record(() => [...demo, "--name", "backend", "--for", "backend"], {
    makesSecret: true,
    quiet: /^app_\w{26}:\S{40,}$/,
  }),
  "key list": list(() => demo),
  "key show": record(({ appId }) => [appId]),
  "key update": record(({ appId }) => [appId, "--name", "storefront"]),
  "key publish": record(({ appId }) => [appId]),
  "key unpublish": record(({ appId }) => [appId], { asks: () => confirmed("Stop accepting key") }),
  "key activate": record(({ appId }) => [appId]),
  "key deactivate": record(({ appId }) => [appId], { asks: () => confirmed("Stop accepting key") }),
  "key rotate": record(({ appId }) => [appId], {
    asks: () => confirmed("immediately?"),
    instead: yes,
    makesSecret: true,
    quiet: /^app_\w{26}:\S{40,}$/,
  }),
  "key retire": record(({ appId }) => [appId], { asks: () => confirmed("Expire the old secret"), instead: yes }),
  "key revoke": record(({ appId }) => [appId], { asks: () => confirmed("permanently?"), instead: yes }),
  "origin add": record(({ appId }) => [appId, "new.example.com"]),
  "origin remove": record(({ appId }) => [appId, "shop.example.com"], {
    asks: () => confirmed("Requests from these pages will fail."),
  }),
  "origin list": list(({ appId }) => [appId]),
  "origin set": record(({ appId }) => [appId, "--allow-no-origin"]),
  "origin check": record(({ appId }) => [appId, "--none"], { quiet: /^rejected$/, code: 1 }),
  "order list": list(() => demo),
  "order show": record(() => ["1", ...demo]),
  "order create": record(() => [...demo, "--item", "LAMP-1:2", ...toZurich, "--shipping-rate", "Standard"]),
  "order pay": record(({ pendingOrder }) => [pendingOrder, ...demo], {
    asks: () => confirmed("Book a payment of"),
    instead: yes,
  }),
  "order fulfill": record(() => ["1", ...demo], { asks: () => confirmed("Record a parcel"), instead: yes }),
  "order cancel": record(({ pendingOrder }) => [pendingOrder, ...demo], {
    asks: () => confirmed("Cancel order 2"),
    instead: yes,
  }),
  "order refund": record(() => ["1", ...demo], { asks: () => confirmed("Refund "), instead: yes }),
  "order invoice": list(() => ["1", ...demo]),
  "order accept": record(({ attentionOrder }) => [attentionOrder, ...demo]),
  "order note": record(() => ["1", "Ring", ...demo]),
  "order revoke-access": record(({ pendingOrder }) => [pendingOrder, ...demo], {
    asks: () => confirmed("Revoke all links to order 2?"),
    instead: yes,
  }),
  "order withdrawals": list(() => demo),
  "order export": record(() => demo, { jsonArgs: ({ dir }) => ["--output", join(dir, "orders.csv")], quiet: /,/ }),
  "report sales": list(() => demo, { quiet: /^\d{4}-\d\d$/ }),
  "report products": list(() => demo),
  "report customers": list(() => demo),
  "report tax": list(() => demo, { quiet: /^\d{4}-\d\d$/ }),
  "payment connect": record(({ keyFile }) => ["stripe", ...demo, "--key-file", keyFile]),
  "payment show": record(() => demo),
  "payment check": record(() => demo),
  "payment disconnect": record(() => demo, { asks: () => confirmed("Disconnect"), instead: yes }),
  "webhook add": record(() => [...demo, "--url", "https://example.com/more"], {
    makesSecret: true,
    quiet: /^whk_\w{26} whsec_\S{32,}$/,
  }),
  "webhook list": list(() => demo),
  "webhook show": record(({ webhookId }) => [webhookId, ...demo]),
  "webhook deliveries": list(({ webhookId }) => [webhookId, ...demo]),
  "webhook replay": record(({ webhookId }) => [webhookId, ...demo, "--failed"]),
  "webhook test": record(({ webhookId }) => [webhookId, ...demo, "--type", "order.paid"], {
    quiet: /^(-|\d{3})$/,
    code: 1,
  }),
  "webhook rotate": record(({ webhookId }) => [webhookId, ...demo], {
    asks: () => confirmed("Replace the secret of webhook"),
    instead: yes,
    makesSecret: true,
    quiet: /^whk_\w{26} whsec_\S{32,}$/,
  }),
  "webhook remove": record(({ webhookId }) => [webhookId, ...demo], { asks: () => confirmed("Remove"), instead: yes }),
  "event tail": list(() => demo),
  "notify send": record(() => [...demo, "--title", "Sale", "--body", "Lamps for half", "--everyone"], {
    asks: () => confirmed("Send the notification to 1 device of store demo?"),
    instead: yes,
  }),
  "notify list": list(() => demo),
  "notify show": record(({ messageId }) => [messageId, ...demo]),
  "notify devices": list(() => demo),
  "notify remove": record(({ registrationId }) => [registrationId, ...demo], {
    asks: () => confirmed("Remove device"),
    instead: yes,
  }),
  "notify key": record(() => []),
  "product list": list(() => demo),
  "product show": record(() => ["LAMP-1", ...demo]),
  "product create": record(() => [...demo, "--title", "Chair", "--price", "49"]),
  "product update": record(() => ["LAMP-1", ...demo, "--price", "21.50"]),
  "product delete": record(() => ["LAMP-1", ...demo], { asks: () => confirmed("Delete product lamp"), instead: yes }),
  "product restore": record(() => ["old-lamp", ...demo]),
  "product image add": list(({ pictureFile }) => ["LAMP-1", pictureFile, ...demo]),
  "product image list": list(() => ["LAMP-1", ...demo]),
  "product image remove": list(() => ["LAMP-1", "https://example.com/1.png", ...demo], { quiet: /2\.png$/ }),
  "product stock": record(() => ["LAMP-1", "-2", ...demo]),
  "product import": record(({ productFile }) => [productFile, ...demo], { quiet: /^$/ }),
  "product export": record(() => demo, { jsonArgs: ({ dir }) => ["--output", join(dir, "exported.csv")], quiet: /,/ }),
  "shipping set": list(({ ratesFile }) => [ratesFile, ...demo]),
  "shipping show": list(() => demo),
  "tax set": list(({ taxesFile }) => [taxesFile, ...demo], { quiet: /^CH:standard$/ }),
  "tax show": list(() => demo, { quiet: /^CH:standard$/ }),
  "discount create": record(() => ["SUMMER10", ...demo, "--percent", "10"]),
  "discount list": list(() => demo),
  "discount show": record(() => ["WELCOME", ...demo]),
  "discount end": record(() => ["WELCOME", ...demo], { asks: () => confirmed("End discount code"), instead: yes }),
  "category list": list(() => demo),
  "category create": record(() => [...demo, "--title", "Chairs"]),
  "category update": record(() => ["lamps", ...demo, "--title", "Lighting"]),
  "category delete": record(() => ["lamps", ...demo], { asks: () => confirmed("permanently?"), instead: yes }),
  "mail list": list(() => []),
  "mail retry": record(({ failedMailId }) => [failedMailId]),
  "mail preview": record(() => [...demo, "--order", "1", "--kind", "placed"]),
  "mail resend": record(() => [...demo, "--order", "1", "--kind", "placed"]),
  "mail template list": list(() => demo),
  "mail template show": record(() => ["order_paid", ...demo]),
  "mail template set": record(() => ["order_paid", ...demo, "--subject", "Paid: {order.number}"]),
  "mail template reset": record(() => ["order_paid", ...demo]),
  "mail test": record(() => [...demo, "--to", ada]),
  "user create": record(() => [...demo, "--email", "new@example.com"], {
    asks: () => passwordTwice,
    instead: () => ["--password-stdin"],
    input: `${typedSecret}\n`,
  }),
  "user invite": record(() => [...demo, "--email", "invited@example.com"]),
  "user list": list(() => demo),
  "user show": record(() => [ada, ...demo]),
  "user update": record(() => [ada, ...demo, "--name", "Countess"]),
  "user set-password": record(() => [ada, ...demo], {
    asks: () => passwordTwice,
    instead: () => ["--password-stdin"],
    input: `${typedSecret}\n`,
  }),
  "user disable": record(() => [ada, ...demo]),
  "user enable": record(() => [ada, ...demo]),
  "user delete": record(() => [ada, ...demo], {
    asks: () => [[`Type ${ada} to continue:`, `${ada}\r`]],
    instead: () => ["--confirm", ada],
  }),
  "user export": record(() => [ada, ...demo], { quiet: /^\{/ }),
  "user erase": record(() => ["grace@example.com", ...demo], {
    asks: () => [["Type grace@example.com to continue:", "grace@example.com\r"]],
    instead: () => ["--confirm", "grace@example.com"],
  }),
  "user two-factor": record(() => [ada, ...demo, "--print-secret"], { makesSecret: true, quiet: /^[A-Z2-7]{32}$/ }),
  "user reset-two-factor": record(() => [ada, ...demo], {
    asks: () => confirmed("Disable two-factor sign-in"),
    instead: yes,
  }),
  "token list": list(() => demo),
  "token revoke": record(() => [...demo, "--all"], { asks: () => confirmed("Revoke every user token"), instead: yes }),
  "audit list": list(() => []),
  "audit verify": record(() => [], { quiet: /^\d+:[0-9a-f]+$/ }),
  "db migrate": record(() => [], { quiet: /^$/, needsNoShop: true }),
  "db status": record(() => []),
  "db backup": record(() => []),
  "db restore": record(({ backupFile }) => [backupFile], {
    alone: true,
    needsNoShop: true,
    asks: () => confirmed("Replace the present database"),
    instead: yes,
    quiet: /before-restore-.*\.db$/,
  }),
  "db test-restore": record(({ backupFile }) => [backupFile], { needsNoShop: true }),
  "db check": record(() => [], { quiet: /^$/ }),
  "db rekey": record(() => [], { asks: () => confirmed("Replace the secret key?"), instead: yes, quiet: /^$/ }),
  upgrade: record(({ dir }) => [...makeProgram(dir), "--dry-run"]),
  version: record(() => [], { needsNoShop: true }),
  completion: record(() => ["bash"], { quiet: /completion/, needsNoShop: true }),
};
