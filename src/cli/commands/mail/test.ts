import { withContext } from "../../context/context.ts";
import { openCliOptions } from "../../context/read-config.ts";
import { namespaceArg } from "../../framework/args.ts";
import { defineCommand } from "../../framework/command.ts";
import { printRecord } from "../../terminal/output.ts";

export default defineCommand({
  name: "test",
  description: "Send a test mail and report the mail server's reply",
  args: {
    namespace: { ...namespaceArg, required: true, description: "Store that sends the mail" },
    to: { type: "string", valueHint: "email", required: true, description: "Recipient" },
    language: { type: "string", valueHint: "tag", description: "Language of the mail (default: the store's)" },
  },
  examples: [
    "bodega mail test -n demo --to ada@example.com",
    "bodega mail test -n demo --to ada@example.com --language ar --json",
  ],
  notes: ["Uses the mail server of BODEGA_SMTP_URL and the sender of BODEGA_MAIL_FROM."],
  async run(args, console) {
    const { readMailConfig } = await import("../../../server/config/config.ts");
    const { testMail } = await import("../../../server/modules/mail/test-mail.ts");
    const sent = await withContext(args, console, async (ctx) => {
      const { smtpUrl, mailFrom } = readMailConfig(openCliOptions(args, console));
      const { requireTenant } = await import("../../../server/modules/tenants/service.ts");
      const tenant = await requireTenant(ctx, args.namespace);
      const smtp = smtpUrl === undefined ? {} : { url: smtpUrl };
      return testMail({ ...ctx, tenant }, { to: args.to, language: args.language, mailFrom, smtp });
    });
    await printRecord(console, sent, "message_id");
  },
});
