import { Type } from "@sinclair/typebox";
import { defineRoute, reply, staff } from "../../http/route.ts";
import { closed, input, line, lines, nullable, oneOf, output } from "../../values/schema.ts";
import { textKinds } from "./kinds.ts";
import { listTemplates, setTemplate } from "./templates.ts";
import { mailTemplates } from "./texts.ts";

const language = oneOf(Object.keys(mailTemplates));
const fields = {
  ...{ kind: oneOf(textKinds), language },
  subject: line(200),
  heading: nullable(line(200)),
  paragraphs: Type.Array(lines(2000), { maxItems: 30 }),
};
const MailTemplate = output("MailTemplate", {
  ...{ ...fields, is_own: Type.Boolean(), placeholders: Type.Array(Type.String()) },
});
const shared = { tag: "Settings", access: [staff] } as const;

export const mailRoutes = [
  defineRoute("GET", "/mail/templates/", "listMailTemplates", {
    ...shared,
    summary: "List the texts of mails in a language, by default the store's",
    query: closed({ language: Type.Optional(language) }),
    reply: { data: Type.Array(MailTemplate) },
    handle: async ({ ctx, query }) => reply(await listTemplates(ctx, query.language)),
  }),
  defineRoute("PUT", "/mail/templates/", "setMailTemplate", {
    ...shared,
    summary: "Replace the texts of a kind of mail in a language; owners only",
    body: input("MailTemplateInput", fields),
    reply: { data: MailTemplate },
    handle: async ({ ctx, body }) => reply(await setTemplate(ctx, body, body)),
  }),
];
