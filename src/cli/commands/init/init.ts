import { defineCommand } from "../../framework/command.ts";
import { passwordGroups, passwordNote } from "../../secrets/secrets.ts";
import { CancelledError } from "../../terminal/console.ts";
import { describeServerProcess } from "../serve/serve.ts";
import { initFlags } from "./flags.ts";

export default defineCommand({
  description: "Create a store and start its server",
  args: initFlags,
  examples: [
    "bodega init",
    'bodega init --title "My shop" --owner-email ada@example.com --random-password --publish --serve',
    "bodega init -n demo --no-owner --publish --origin shop.example.com --save-secret-to storefront.secret",
  ],
  notes: [
    "At a terminal, the command asks for missing values, and writes nothing before the last answer. Without a terminal, it " +
      "needs --title or --namespace, and either --no-owner or --owner-email with a password. It then publishes the key only " +
      "with --publish. With --origin, the key is a storefront key.",
    passwordNote,
    "You can run the command again, for example to add a mail server or a replica. It adds missing parts, changes nothing " +
      "that exists, and creates no second key. The mail server and the flags of the server are saved in bodega.env in the " +
      "data directory. The server and every command read this file; environment variables and flags take precedence.",
  ],
  exclusive: [
    ["print-unit", "serve"],
    ["print-unit", "title"],
    ...passwordGroups,
    ["no-owner", "owner-email"],
    ["serve", "no-serve"],
  ],
  async run(args, console) {
    if (args["print-unit"]) return (await import("./print.ts")).printUnit(args, console);
    const { createShop, planShop } = await import("./plan.ts");
    const { printOutcome } = await import("./print.ts");
    const plan = await planShop(args, console);
    // From the first write until the secrets are printed, no signal ends the process, so no created secret is lost.
    const release = console.holdSignals();
    const outcome = await createShop(console, plan);
    await printOutcome(console, outcome);
    const signal = release();
    if (!outcome.serve) return;
    if (signal !== undefined) throw new CancelledError();
    const { runServer } = await import("../../../server/runtime/serve.ts");
    console.releaseSignals();
    return runServer(outcome.config, describeServerProcess(console));
  },
});
