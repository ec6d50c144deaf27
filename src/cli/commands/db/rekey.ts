import type { RekeyReport } from "../../../server/admin/rekey.ts";
import { withContext } from "../../context/context.ts";
import { readCliConfig } from "../../context/read-config.ts";
import { defineCommand } from "../../framework/command.ts";
import type { Console } from "../../terminal/console.ts";
import { formatValue, info, printJson, printRecord, warn } from "../../terminal/output.ts";
import { confirmAction } from "../../terminal/prompt.ts";

const maxNamed = 20;

export default defineCommand({
  name: "rekey",
  description: "Take the present secret key, after the old one was lost for good",
  args: {},
  examples: ["bodega db rekey", "bodega db rekey --yes --json"],
  notes: [
    "Stop every server of the database first. Mail that waits and reset codes are dropped, because only the old key " +
      "opens them. Users with two-factor sign-in stay locked out until it is reset for each: " +
      "bodega user reset-two-factor. Webhooks tell nothing until each has a new secret: bodega webhook rotate. Browsers " +
      "and devices hear nothing until they register again, browsers with a new subscription. Visitors become new ones: " +
      "what they liked stays counted, and they can take it back no more. Passwords, users' tokens and app keys do not " +
      "depend on the key.",
  ],
  async run(args, console) {
    const { wrongState } = await import("../../../server/errors.ts");
    const { isServerRunning } = await import("../../../server/db/local/server-lock.ts");
    const { dataDir } = readCliConfig(args, console);
    if (await isServerRunning(dataDir)) {
      throw wrongState(`A server is running on ${dataDir}. Stop it first: it works with the old key.`);
    }
    await confirmAction(
      console,
      "Give the old key up? Waiting mail, reset codes, second factors, the secrets of webhooks and the devices that " +
        "registered for notifications are lost.",
    );
    const { rekeyDatabase } = await import("../../../server/admin/rekey.ts");
    await printReport(console, await withContext(args, console, rekeyDatabase));
  },
});

async function printReport(console: Console, report: RekeyReport): Promise<void> {
  const { two_factor_users: users, webhooks, ...shown } = report;
  if (console.json) return printJson(console, report);
  if (!report.rekeyed) return info(console, "The database has the present key already; nothing has changed.");
  if (!console.quiet)
    await printRecord(console, { ...shown, two_factor_users: users.length, webhooks: webhooks.length }, "rekeyed");
  if (webhooks.length > 0) await warn(console, "These webhooks tell nothing until they have a new secret:");
  for (const { namespace, webhook_id, url } of webhooks.slice(0, maxNamed)) {
    await console.writeError(`  bodega webhook rotate -n ${namespace} ${webhook_id}  # ${formatValue(url)}\n`);
  }
  if (webhooks.length > maxNamed) await info(console, `and ${webhooks.length - maxNamed} more, which --json lists`);
  if (users.length === 0) return;
  await warn(console, "These users cannot sign in until their second factor is reset:");
  for (const { namespace, user_id, email } of users.slice(0, maxNamed)) {
    await console.writeError(`  bodega user reset-two-factor -n ${namespace} ${user_id}  # ${formatValue(email)}\n`);
  }
  if (users.length > maxNamed) await info(console, `and ${users.length - maxNamed} more, which --json lists`);
}
