import ar from "./templates/ar.json";
import de from "./templates/de.json";
import en from "./templates/en.json";
import es from "./templates/es.json";
import fr from "./templates/fr.json";
import pt from "./templates/pt.json";
import zh from "./templates/zh.json";

/** The texts of one language. All may contain `{store}` and `{name}`. `mailKinds` has the other values of each kind. */
export type MailTemplates = typeof en;

export const mailTemplates: Record<string, MailTemplates> = { ar, de, en, es, fr, pt, zh };

/** The texts of a kind of mail. Without a heading, the subject is the heading. */
export interface MailText {
  subject: string;
  heading?: string | null;
  paragraphs: string[];
}

export type Show = (name: string, value: string) => string;

export const linkNames: readonly string[] = ["link", "tracking_url", "back_office"];

const placeholder = /\{(?:order\.)?(\w+)\}/g;

export function namesIn(text: string): string[] {
  return Array.from(text.matchAll(placeholder), ([, name]) => name as string);
}

export function fill(text: string, values: Record<string, string>, show: Show): string {
  return text.replace(placeholder, (whole, name: string) => {
    const value = values[name];
    return value === undefined ? whole : show(name, value);
  });
}
