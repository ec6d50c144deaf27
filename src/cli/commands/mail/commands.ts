import { type AnyMailKind, mailKinds } from "../../../server/modules/mail/kinds.ts";
import { parseEmail } from "../../../server/values/email.ts";
import { readCliConfig, withContext, withTenant } from "../../context/context.ts";
import { limitArg, namespaceFilterArg, sinceArg } from "../../context/list-args.ts";
import { choiceArg, valueArg } from "../../framework/args.ts";
import { defineCommand } from "../../framework/command.ts";
import { printList, printRecord } from "../../terminal/console.ts";

const service = () => import("../../../server/modules/mail/service.ts");

export const listCommand = defineCommand({
  description: "List waiting and sent mail, newest first",
  args: {
    namespace: namespaceFilterArg,
    status: choiceArg(["waiting", "sent", "failed", "expired", "dropped"], "Filter by status"),
    kind: choiceArg(Object.keys(mailKinds) as AnyMailKind[], "Filter by kind"),
    to: valueArg("email", "Filter by recipient"),
    since: sinceArg,
    limit: limitArg("50", 1000),
    "show-recipients": { type: "boolean", description: "Show full addresses instead of a…@example.com" },
  },
  examples: ["bodega mail list -n demo --status failed --since 24h"],
  notes: [
    "The content of a mail is encrypted, and erased after the mail is sent. In a demo, the list shows the codes and links of waiting mail.",
    "waiting: not sent yet, or to be retried. failed: rejected, or given up after ten attempts. " +
      "expired: could not be sent in time. dropped: no user has the address.",
  ],
  async run(args, console) {
    const { listMail } = await service();
    const { demoNamespace, isDemoDir } = await import("../../../server/admin/demo.ts");
    const mails = await withContext(args, console, (ctx, { dataDir, databaseUrl }) => {
      const showCodesOf = databaseUrl === undefined && isDemoDir(dataDir) ? demoNamespace : undefined;
      return listMail(ctx, { ...args, showRecipients: args["show-recipients"], showCodesOf });
    });
    const hasCodes = mails.some(({ code }) => code !== undefined);
    await printList(console, mails, {
      empty: "No mail found.",
      columns: [
        ...(["id", "namespace", "kind", "to", "status"] as const),
        ...(hasCodes ? (["code"] as const) : []),
        ...(["attempts", "next_attempt_at", "last_error", "created_at"] as const),
      ],
      limit: args.limit,
    });
  },
});

export const retryCommand = defineCommand({
  description: "Queue failed mail again",
  args: {
    id: { type: "positional", required: false, multiple: true, description: "Ids of failed mails" },
    all: { type: "boolean", description: "Retry all failed mail that has not expired" },
    namespace: namespaceFilterArg,
  },
  oneOf: ["id", "all"],
  examples: ["bodega mail retry mail_01k8z3v5x2f1rt9m6q7wbn4hcd", "bodega mail retry --all -n demo --json"],
  done: "Queued {retried mail} again.",
  async run(args, console) {
    const { retryMail } = await service();
    const choice = { namespace: args.namespace, which: args.all ? ("all" as const) : args.id };
    await printRecord(console, { retried: await withContext(args, console, (ctx) => retryMail(ctx, choice)) });
  },
});

export const testCommand = defineCommand({
  description: "Send a test mail and report the mail server's reply",
  args: {
    namespace: { ...namespaceFilterArg, required: true, description: "Store that sends the mail" },
    to: valueArg("email", "Recipient", {
      required: true,
      parse: (_flag: string, text: string) => parseEmail("to", text).email,
    }),
    language: valueArg("tag", "Language of the mail (default: the store's)"),
  },
  examples: ["bodega mail test -n demo --to ada@example.com --language ar"],
  notes: ["Uses the mail server of BODEGA_SMTP_URL and the sender of BODEGA_MAIL_FROM."],
  async run(args, console) {
    const { testMail } = await import("../../../server/modules/mail/test-mail.ts");
    const { to, language } = args;
    const { smtpUrl, mailFrom } = readCliConfig(args, console);
    const smtp = smtpUrl === undefined ? {} : { url: smtpUrl };
    const sent = await withTenant(args, console, (ctx) => testMail(ctx, { to, language, mailFrom, smtp }));
    await printRecord(console, sent, "message_id");
  },
});
