import { withPayments } from "../../context/context.ts";
import { fileArg, requiredNamespaceArg, valueArg, wordArg } from "../../framework/args.ts";
import { defineCommand } from "../../framework/command.ts";
import { readSecretFile } from "../../secrets/secrets.ts";
import { info, printRecord, warn } from "../../terminal/console.ts";
import { confirmAction } from "../../terminal/prompt.ts";

const service = () => import("../../../server/modules/payments/stripe/connect.ts");
const storeOnly = { namespace: requiredNamespaceArg };

export const connectCommand = defineCommand({
  description: "Connect a store with its account at Stripe, or replace the key",
  args: {
    provider: wordArg("Provider of card payments", { options: ["stripe"] }),
    namespace: requiredNamespaceArg,
    "key-file": fileArg("File with the secret or restricted key of the account", { required: true, field: "key" }),
    method: valueArg("name", "Payment method, as Stripe names it (default: card)", { multiple: true }),
  },
  examples: ["bodega payment connect stripe -n demo --key-file stripe.key"],
  notes: [
    "The key is encrypted with the server's secret key. With BODEGA_PUBLIC_URL, an endpoint for events is registered at " +
      "Stripe. Without it, the server asks Stripe every minute.",
    "A restricted key (rk_) needs write access to Checkout Sessions, Refunds and Webhook Endpoints, and read access to " +
      "the account, Charges, Disputes, Events and PaymentIntents.",
  ],
  done: "Connected the store with account {account} in {mode} mode.",
  async run(args, console) {
    const key = readSecretFile(args["key-file"], "--key-file");
    const { connectStripe } = await service();
    const account = await withPayments(args, console, (ctx) => connectStripe(ctx, { key, methods: args.method }));
    await printRecord(console, account);
    if (account.endpoint_id !== null) return;
    const why = "Stripe cannot report payments, because BODEGA_PUBLIC_URL is no https address. The server polls them.";
    await info(console, why);
  },
});

export const showCommand = defineCommand({
  description: "Show the account at the payment provider",
  args: storeOnly,
  examples: ["bodega payment show -n demo"],
  async run(args, console) {
    const { showAccount } = await service();
    await printRecord(console, await withPayments(args, console, showAccount));
  },
});

export const checkCommand = defineCommand({
  description: "Check key and endpoint at the payment provider",
  args: storeOnly,
  examples: ["bodega payment check -n demo"],
  notes: ["The exit code is 1 when the endpoint has a problem."],
  async run(args, console) {
    const { checkAccount, registerAgain } = await service();
    const account = await withPayments(args, console, checkAccount);
    await printRecord(console, account);
    if (account.problems.length === 0) return 0;
    await warn(console, `${registerAgain} bodega payment connect stripe -n ${args.namespace} --key-file <file>`);
    return 1;
  },
});

export const disconnectCommand = defineCommand({
  description: "Close the payment pages of a store and delete the key of its account",
  args: storeOnly,
  examples: ["bodega payment disconnect -n demo"],
  notes: ["Make refunds of earlier card payments at the provider."],
  done: "Disconnected the store from account {account}.",
  async run(args, console) {
    const { disconnectStripe, showAccount } = await service();
    const shown = await withPayments(args, console, showAccount);
    const name = `${shown.account} (${shown.mode})`;
    await confirmAction(console, `Disconnect the store from ${name}? Open payment pages are closed.`);
    await withPayments(args, console, disconnectStripe);
    await printRecord(console, shown);
  },
});
