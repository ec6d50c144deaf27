import { withContext } from "../../context/context.ts";
import { namespaceArg } from "../../framework/args.ts";
import { defineCommand } from "../../framework/command.ts";
import { printRecord } from "../../terminal/output.ts";

export default defineCommand({
  name: "test",
  description: "Send a test mail at once, and tell how the mail server took it",
  args: {
    namespace: { ...namespaceArg, required: true, description: "Tenant that the mail comes from" },
    to: { type: "string", valueHint: "email", required: true, description: "Where to send it" },
    language: { type: "string", valueHint: "tag", description: "Language of the mail (default: the tenant's)" },
  },
  examples: [
    "bodega mail test -n demo --to ada@example.com",
    "bodega mail test -n demo --to ada@example.com --language ar --json",
  ],
  notes: [
    "The mail server is that of BODEGA_SMTP_URL, the sender that of BODEGA_MAIL_FROM, in the environment of this command.",
  ],
  async run(args, console) {
    const { testMail } = await import("../../../server/modules/mail/test-mail.ts");
    const sent = await withContext(args, console, async (ctx, { smtpUrl, mailFrom }) => {
      const { requireTenant } = await import("../../../server/modules/tenants/service.ts");
      const tenant = await requireTenant(ctx, args.namespace);
      const smtp = smtpUrl === undefined ? {} : { url: smtpUrl };
      return testMail({ ...ctx, tenant }, { to: args.to, language: args.language, mailFrom, smtp });
    });
    await printRecord(console, sent, "message_id");
  },
});
