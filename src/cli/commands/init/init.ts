import { defineCommand } from "../../framework/command.ts";
import { formatServerUrl } from "../health/probe-health.ts";
import { describeServerProcess } from "../serve/server-process.ts";
import { initFlags } from "./flags.ts";

export default defineCommand({
  name: "init",
  description: "Open a shop: ask for what it needs, make it, and have it served",
  args: initFlags,
  examples: [
    "bodega init",
    'bodega init --title "My shop" --owner-email ada@example.com --owner-random-password --publish --serve',
    "bodega init --title Mugs -n mugs --currency USD --owner-email ada@example.com --owner-password-stdin --json < password",
    "bodega init -n demo --no-owner --publish --origin shop.example.com --origin '*.example.org' --secret-file web.secret",
    "bodega init -n demo --smtp-url-file smtp.url --mail-from shop@example.com --systemd --data-dir /var/lib/bodega",
  ],
  notes: [
    "At a terminal it asks for what the flags leave open, and writes nothing before the last answer. Elsewhere it needs " +
      "--title or --namespace, and --owner-email with a password, or --no-owner. A key is then unpublished unless --publish is given, and no browser " +
      "may use it unless --origin is.",
    "Run again, it adds what is missing and changes nothing that stands; what was asked for and is otherwise already is named. " +
      "It issues no second key.",
    "The mail server is tried at once, with a mail to the owner. It and the flags of the server go into bodega.env in the " +
      "data directory (mode 0600), which the server and every command read, below environment and flags.",
    "The unit of --systemd lets the server reach its own folder and the network, and nothing else. With --systemd as root, the data directory is " +
      "/var/lib/bodega unless another is named or bodega-data is there. A unit that stands is never overwritten.",
  ],
  async run(args, console) {
    const { initShop } = await import("./init-shop.ts");
    const { holdsSecrets, tellOutcome } = await import("./outcome.ts");
    const outcome = await initShop(args, console);
    const { config, failure, release } = outcome;
    if (outcome.run !== "serve" || failure !== undefined) {
      // Who asks for nothing secret may stop it while nobody reads.
      const isSecret = holdsSecrets(outcome) && !outcome.isTold;
      if (!isSecret) release();
      await tellOutcome(console, outcome, formatServerUrl(config));
      if (failure !== undefined) throw failure;
      if (isSecret) release();
      return;
    }
    let isTold = false;
    const tell = async (url: string) => {
      isTold = true;
      await tellOutcome(console, outcome, url);
      // Only now may it be stopped: the server has come to listen meanwhile.
      const signal = release();
      if (signal !== undefined) process.kill(process.pid, signal);
    };
    const { runServer } = await import("../../../server/runtime/serve.ts");
    console.releaseSignals();
    try {
      return await runServer(config, { ...describeServerProcess(console), onReady: tell });
    } finally {
      // The shop stands though it is not served now, and its secrets are told this once.
      if (!isTold) await tellOutcome(console, outcome, formatServerUrl(config));
    }
  },
});
