import { chooseLanguage } from "../../values/choose-language.ts";
import { collectJson } from "../../values/collect-json.ts" with { type: "macro" };
import type { AnyMailKind } from "./kinds.ts";

/** The texts of one language. Placeholders: `{store}` and `{name}` anywhere, and the names of `mailKinds` for the kind. */
export type MailTemplates = {
  direction: "ltr" | "rtl";
  /** Where the recipient's name is known. */
  greeting: string;
  greeting_without_name: string;
  footer: string;
} & Record<AnyMailKind, { subject: string; paragraphs: string[] }>;

/** All texts, by BCP 47 tag; each file of `templates/` is one. */
export const mailTemplates = collectJson("modules/mail/templates") as Record<string, MailTemplates>;

/** The texts in the first of these languages that has some, else in English. @param wanted BCP 47 tags. */
export function chooseTemplates(wanted: readonly (string | null | undefined)[]): {
  language: string;
  templates: MailTemplates;
} {
  const language = chooseLanguage(wanted, mailTemplates);
  return { language, templates: mailTemplates[language] as MailTemplates };
}
