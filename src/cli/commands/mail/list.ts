import { type AnyMailKind, mailKinds } from "../../../server/modules/mail/kinds.ts";
import type { MailRecord } from "../../../server/modules/mail/list.ts";
import { withContext } from "../../context/context.ts";
import { defineCommand } from "../../framework/command.ts";
import { limitArg, namespaceFilterArg, readPastTime, sinceArg } from "../../framework/list-args.ts";
import { parseCount } from "../../framework/parse-values.ts";
import { formatValue, printList } from "../../terminal/output.ts";
import type { Column } from "../../terminal/table.ts";

const codeColumn: Column<MailRecord> = { header: "CODE", value: (mail) => mail.code ?? "", whole: true };

export default defineCommand({
  name: "list",
  description: "List queued and sent mail, newest first",
  args: {
    namespace: namespaceFilterArg,
    status: {
      type: "enum",
      options: ["queued", "sent", "failed", "expired", "dropped"],
      description: "Filter by status",
    },
    kind: { type: "enum", options: Object.keys(mailKinds) as AnyMailKind[], description: "Filter by kind" },
    to: { type: "string", valueHint: "email", description: "Filter by recipient, of mail that is not sent yet" },
    since: sinceArg,
    limit: limitArg("50", 1000),
    "show-recipients": { type: "boolean", description: "Show full addresses instead of a***@example.com" },
  },
  examples: [
    "bodega mail list -n demo",
    "bodega mail list --status failed --since 24h --json",
    "bodega mail list -n demo --to ada@example.com --kind reset_code",
  ],
  notes: [
    "The content of a mail is encrypted, and erased with its recipient once it is sent. A demo has no mail server, so " +
      "its list shows the reset codes of queued mail.",
    "queued: waits for its next attempt or for a mail server. failed: rejected, or given up after ten attempts. " +
      "expired: no longer useful before it could be sent. dropped: no user has the address.",
  ],
  async run(args, console) {
    const limit = parseCount("--limit", args.limit);
    const since = readPastTime("--since", args.since, Date.now());
    const { listMail } = await import("../../../server/modules/mail/list.ts");
    const { demoNamespace, isDemoDir } = await import("../../../server/admin/demo.ts");
    const mails = await withContext(args, console, (ctx, { dataDir, databaseUrl }) => {
      const isDemo = databaseUrl === undefined && isDemoDir(dataDir);
      return listMail(ctx, {
        namespace: args.namespace,
        status: args.status,
        kind: args.kind,
        to: args.to,
        since,
        limit,
        showRecipients: args["show-recipients"],
        showCodesOf: isDemo ? demoNamespace : undefined,
      });
    });
    const hasCodes = mails.some(({ code }) => code !== undefined);
    await printList(console, mails, {
      id: (mail) => mail.id,
      empty: "No mail found.",
      columns: [
        { header: "ID", value: (mail) => mail.id, whole: true },
        { header: "NAMESPACE", value: (mail) => mail.namespace },
        { header: "KIND", value: (mail) => mail.kind },
        { header: "TO", value: (mail) => formatValue(mail.to) },
        { header: "STATUS", value: (mail) => mail.status, state: true },
        ...(hasCodes ? [codeColumn] : []),
        { header: "ATTEMPTS", value: (mail) => String(mail.attempts) },
        {
          header: "NEXT ATTEMPT",
          value: (mail) => formatValue(mail.next_attempt_at),
        },
        { header: "LAST ERROR", value: (mail) => formatValue(mail.last_error) },
      ],
    });
  },
});
