import { type MailKind, textKinds } from "../../../server/modules/mail/kinds.ts";
import { defineAct, defineList } from "../../context/store-command.ts";
import { requiredNamespaceArg, valueArg, wordArg } from "../../framework/args.ts";
import { invalidFlag } from "../../terminal/console.ts";

const service = () => import("../../../server/modules/mail/templates.ts");

const kind = wordArg("Kind of mail, such as order_paid", {
  parse(flag: string, text: string): MailKind {
    const kind = textKinds.find((one) => one === text);
    if (kind !== undefined) return kind;
    throw invalidFlag(flag, `must be one of ${textKinds.join(", ")}`);
  },
});
const language = valueArg("tag", "Language of the texts: ar, de, en, es, fr, pt or zh (default: the store's)");
const args = { kind, namespace: requiredNamespaceArg, language };

export const listCommand = defineList({
  description: "List the kinds of mail with their subjects, and whether the store has replaced the texts",
  args: { language },
  examples: ["bodega mail template list -n demo --language de"],
  rows: async (ctx, given) => (await service()).listTemplates(ctx, given.language),
  id: ({ kind }) => kind,
  empty: "No texts found.",
  columns: ["kind", "language", "is_own", "subject"],
});

export const showCommand = defineAct({
  description: "Show the texts of a kind of mail, and what they can contain",
  args,
  examples: ["bodega mail template show order_paid -n demo --language de"],
  act: async (ctx, given) => (await service()).getTemplate(ctx, given),
});

export const setCommand = defineAct({
  description: "Replace texts of a kind of mail; those that are not given stay",
  args: {
    ...args,
    subject: valueArg("text", "Subject"),
    heading: valueArg("text", "Heading above the texts; --heading= for the subject", { allowEmpty: true }),
    paragraph: valueArg("text", "Paragraph; all given ones replace the present ones", { multiple: true }),
  },
  examples: [
    'bodega mail template set order_paid -n demo --language en --subject "Paid: {order.number}" --paragraph "Thank you!" --paragraph "{order.items}"',
  ],
  notes: [
    "Texts are plain text with placeholders such as {order.number}; everything is escaped. A paragraph about an empty value is left out. {order.items} is a table, {order.link} a button.",
  ],
  done: "Changed the texts of {kind} mails ({language}).",
  async act(ctx, given) {
    const { subject, heading, paragraph } = given;
    const text = { subject, heading, paragraphs: paragraph.length > 0 ? paragraph : undefined };
    return (await service()).setTemplate(ctx, given, text);
  },
});

export const resetCommand = defineAct({
  description: "Return to the built-in texts of a kind of mail",
  args,
  examples: ["bodega mail template reset order_paid -n demo --language en"],
  done: "The built-in texts of {kind} mails ({language}) are used again.",
  act: async (ctx, given) => (await service()).resetTemplate(ctx, given),
});
