import type { RekeyReport } from "../../../server/admin/rekey.ts";
import { wrongState } from "../../../server/errors.ts";
import { withContext } from "../../context/context.ts";
import { readCliConfig } from "../../context/read-config.ts";
import { defineCommand } from "../../framework/command.ts";
import type { Console } from "../../terminal/console.ts";
import { formatValue, info, printJson, printRecord, warn } from "../../terminal/output.ts";
import { confirmAction } from "../../terminal/prompt.ts";

const maxNamed = 20;

export default defineCommand({
  description: "Start using a new secret key after the old one was lost",
  args: {},
  examples: ["bodega db rekey", "bodega db rekey --yes --json"],
  notes: [
    "Stop all servers of the database first. Queued mail and reset codes are dropped, because only the old key decrypts " +
      "them. Users with two-factor sign-in cannot sign in until it is reset: bodega user reset-two-factor. Webhooks send " +
      "nothing until they have a new secret: bodega webhook rotate. Browsers and devices must register again for push " +
      "notifications. Visitors count as new ones and cannot undo earlier likes and bookmarks. Passwords, user tokens and app keys " +
      "do not depend on the key.",
  ],
  async run(args, console) {
    const { isServerRunning } = await import("../../../server/db/local/file-lock.ts");
    const { dataDir } = readCliConfig(args, console);
    if (await isServerRunning(dataDir)) {
      throw wrongState(`A server is running on ${dataDir} with the old key. Stop it first.`);
    }
    await confirmAction(
      console,
      "Replace the secret key? Queued mail, reset codes, second factors, webhook secrets and push registrations are lost.",
    );
    const { rekeyDatabase } = await import("../../../server/admin/rekey.ts");
    await printReport(console, await withContext(args, console, rekeyDatabase));
  },
});

async function printReport(console: Console, report: RekeyReport): Promise<void> {
  const { two_factor_users: users, webhooks, ...shown } = report;
  if (console.json) return printJson(console, report);
  if (!report.rekeyed) return info(console, "The database already uses this key. Nothing was changed.");
  if (!console.quiet)
    await printRecord(console, { ...shown, two_factor_users: users.length, webhooks: webhooks.length }, "rekeyed");
  await warnOf(console, "These webhooks send nothing until they have a new secret:", webhooks, (one) => {
    return `webhook rotate -n ${one.namespace} ${one.webhook_id}  # ${formatValue(one.url)}`;
  });
  await warnOf(console, "These users cannot sign in until their second factor is reset:", users, (one) => {
    return `user reset-two-factor -n ${one.namespace} ${one.user_id}  # ${formatValue(one.email)}`;
  });
}

async function warnOf<T>(console: Console, text: string, list: T[], commandOf: (one: T) => string): Promise<void> {
  if (list.length === 0) return;
  await warn(console, text);
  for (const one of list.slice(0, maxNamed)) await console.writeError(`  bodega ${commandOf(one)}\n`);
  if (list.length > maxNamed) await info(console, `and ${list.length - maxNamed} more. List all: --json`);
}
