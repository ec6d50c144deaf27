import { type AnyMailKind, mailKinds } from "../../../server/modules/mail/kinds.ts";
import type { MailRecord } from "../../../server/modules/mail/list.ts";
import { withContext } from "../../context/context.ts";
import { namespaceArg } from "../../framework/args.ts";
import { defineCommand } from "../../framework/command.ts";
import { parseCount, parsePastTime } from "../../framework/parse-values.ts";
import { formatValue, printList } from "../../terminal/output.ts";
import type { Column } from "../../terminal/table.ts";

const codeColumn: Column<MailRecord> = { header: "CODE", value: (mail) => mail.code ?? "", whole: true };

export default defineCommand({
  name: "list",
  description: "List mail that waits or was sent, newest first",
  args: {
    namespace: { ...namespaceArg, description: "Only of this tenant" },
    status: {
      type: "enum",
      options: ["queued", "sent", "failed", "expired", "dropped"],
      description: "Only what this became of",
    },
    kind: { type: "enum", options: Object.keys(mailKinds) as AnyMailKind[], description: "Only mail of this kind" },
    to: { type: "string", valueHint: "email", description: "Only mail to this address, as long as it is not erased" },
    since: { type: "string", valueHint: "duration|time", description: "Not older: 24h, or 2030-01-31T00:00:00Z" },
    limit: { type: "string", valueHint: "number", default: "50", description: "How many at most, up to 1000" },
    "show-recipients": { type: "boolean", description: "Whole addresses instead of a***@example.com" },
  },
  examples: [
    "bodega mail list -n demo",
    "bodega mail list --status failed --since 24h --json",
    "bodega mail list -n demo --to ada@example.com --kind reset_code",
  ],
  notes: [
    "What a mail says is sealed, and erased once it is sent; its recipient with it. Only in the data directory of a demo " +
      "the codes of waiting reset mails of its store `demo` are shown, since a demo has no mail server.",
    "queued: waits for its next attempt, or for a mail server to be configured. failed: was refused, or given up after " +
      "ten attempts. expired: not sent while it was of use. dropped: nobody has the address it was asked for.",
  ],
  async run(args, console) {
    const limit = parseCount("--limit", args.limit);
    const since = args.since === undefined ? undefined : parsePastTime("--since", args.since, Date.now());
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
      empty: "There is no such mail.",
      columns: [
        { header: "ID", value: (mail) => mail.id, whole: true },
        { header: "NAMESPACE", value: (mail) => mail.namespace },
        { header: "KIND", value: (mail) => mail.kind },
        { header: "TO", value: (mail) => formatValue(mail.to) },
        { header: "STATUS", value: (mail) => mail.status, state: true },
        ...(hasCodes ? [codeColumn] : []),
        { header: "ATTEMPTS", value: (mail) => String(mail.attempts) },
        { header: "NEXT ATTEMPT", value: (mail) => formatValue(mail.next_attempt_at) },
        { header: "LAST ERROR", value: (mail) => formatValue(mail.last_error) },
      ],
    });
  },
});
