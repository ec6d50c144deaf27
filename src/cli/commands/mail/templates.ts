import { textKinds } from "../../../server/modules/mail/kinds.ts";
import { defineAct, defineList } from "../../context/store-command.ts";
import { requiredNamespaceArg, valueArg, wordArg } from "../../framework/args.ts";

const service = () => import("../../../server/modules/mail/templates.ts");

const kind = wordArg("Kind of mail", { options: textKinds });
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
  description: "Show the texts of a kind of mail, and its placeholders",
  args,
  examples: ["bodega mail template show order_paid -n demo --language de"],
  act: async (ctx, given) => (await service()).getTemplate(ctx, given),
});

export const setCommand = defineAct({
  description: "Replace texts of a kind of mail; texts without a flag stay",
  args: {
    ...args,
    subject: valueArg("text", "Subject"),
    heading: valueArg("text", "Heading; with --heading=, the subject is the heading", { allowEmpty: true }),
    paragraph: valueArg("text", "Paragraph; repeat it for several; replaces all current ones", { multiple: true }),
  },
  examples: [
    'bodega mail template set order_paid -n demo --language en --subject "Paid: {order.number}" --paragraph "Thank you!" --paragraph "{order.items}"',
  ],
  notes: [
    "Write plain text with placeholders such as {order.number}; everything is escaped. A paragraph is left out if one of its " +
      "placeholders has no value. {order.items} is a table, {order.link} a button.",
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
