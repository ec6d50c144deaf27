import { type ArgValues, type CommandArgs, valueArg } from "../../framework/args.ts";
import { invalidFlag } from "../../terminal/console.ts";

export const translationArgs = {
  "title-in": valueArg("lang=text", "Title in another language, such as de=Tasse; de= removes it", {
    multiple: true,
    field: "translations",
  }),
  "description-in": valueArg("lang=text", "Description in another language; de= removes it", {
    multiple: true,
    field: "translations",
  }),
} as const satisfies CommandArgs;

export function readTranslations(args: ArgValues<typeof translationArgs>) {
  const translations: Record<string, { title?: string | null; description?: string | null }> = {};
  for (const field of ["title", "description"] as const) {
    for (const given of args[`${field}-in`]) {
      const [, lang, text] = /^([^=]+)=(.*)$/s.exec(given) ?? [];
      if (lang === undefined) throw invalidFlag(`--${field}-in`, "must be a language and a text, such as de=Tasse");
      translations[lang] = { ...translations[lang], [field]: text || null };
    }
  }
  return Object.keys(translations).length === 0 ? undefined : translations;
}
