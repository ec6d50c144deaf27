import { collectTemplates } from "./collect-templates.ts" with { type: "macro" };
import type { AnyMailKind } from "./kinds.ts";

/** The texts of one language. Placeholders: `{store}` and `{name}` anywhere, and what `mailKinds` names for the kind. */
export type MailTemplates = {
  direction: "ltr" | "rtl";
  /** Where the recipient's name is known. */
  greeting: string;
  greeting_without_name: string;
  footer: string;
} & Record<AnyMailKind, { subject: string; paragraphs: string[] }>;

/** All texts, by BCP 47 tag; each file of `templates/` is one. */
export const mailTemplates = collectTemplates() as Record<string, MailTemplates>;

const lastResort = "en";

/**
 * The texts in the first of these languages that there are texts for, each followed by what it is a variety of (`pt-BR`
 * by `pt`), and English where there is none.
 * @param wanted BCP 47 tags, the most wanted first; what is no tag is passed over.
 */
export function chooseTemplates(wanted: readonly (string | null | undefined)[]): {
  language: string;
  templates: MailTemplates;
} {
  for (const tag of wanted) {
    for (const language of varietiesOf(tag ?? "")) {
      const templates = Object.hasOwn(mailTemplates, language) ? mailTemplates[language] : undefined;
      if (templates) return { language, templates };
    }
  }
  return { language: lastResort, templates: mailTemplates[lastResort] as MailTemplates };
}

/** `zh-Hant-TW`, `zh-Hant`, `zh`. */
function varietiesOf(tag: string): string[] {
  const parts = canonical(tag).split("-");
  return parts.map((_, index) => parts.slice(0, parts.length - index).join("-"));
}

function canonical(tag: string): string {
  try {
    return Intl.getCanonicalLocales(tag)[0] ?? "";
  } catch {
    return "";
  }
}
