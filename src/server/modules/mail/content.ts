import { chooseLanguage } from "../../values/choose-language.ts";
import type { tenants } from "../tenants/table.ts";
import type { AnyMailKind } from "./kinds.ts";
import { formatAmount, type MailOrder, tableRows } from "./order-table.ts";
import { fill, type MailTemplates, type MailText, mailTemplates, namesIn } from "./texts.ts";

export type MailStore = Pick<typeof tenants.$inferSelect, "title" | "domain" | "url" | "logo" | "language"> & {
  legalUrls?: string;
  texts?: Record<string, MailText>;
};

const maxNameCharacters = 60;

/** The data of a mail to render. `languages`: BCP 47 tags in order of preference; the store's language follows. */
export interface MailInput {
  kind: AnyMailKind;
  store: MailStore;
  name: string | null;
  languages: readonly (string | null | undefined)[];
  values: Record<string, string>;
  order?: MailOrder | undefined;
}

export type MailContent = ReturnType<typeof readContent>;

/** Returns the language, the texts and the values of a mail. The HTML and the plain text are made from them. */
export function readContent({ kind, store, name, languages, values, order }: MailInput) {
  const language = chooseLanguage([...languages, store.language], mailTemplates);
  const templates = mailTemplates[language] ?? (mailTemplates.en as MailTemplates);
  const text: MailText = store.texts?.[language] ?? templates[kind];
  const all: Record<string, string> = { ...values, store: oneLine(store.title), name: greetingName(name) };
  for (const [key, amount] of Object.entries(order?.amounts ?? {})) {
    all[key] = amount === 0 && key.startsWith("refund") ? "" : formatAmount(amount, order as MailOrder, language);
  }
  if (values.reason !== undefined) all.reason = templates.reasons[values.reason as keyof typeof templates.reasons];
  const greeting = all.name === "" ? templates.greeting_without_name : templates.greeting;
  // A paragraph is left out if one of its values is empty.
  const isShown = (line: string) => namesIn(line).every((key) => all[key] !== "");
  const lines = [greeting, ...text.paragraphs.filter(isShown)];
  if (all.back_office) lines.push("{back_office}");
  const line = (words: string) => fill(words, all, (_name, value) => oneLine(value));
  const subject = line(text.subject);
  return {
    ...{ lines, language, templates, subject, heading: line(text.heading ?? text.subject), values: all },
    ...{ address: storeAddress(store), legal: legalLinks(store, templates) },
    rows: order && tableRows(order, templates, language),
  };
}

/** Returns the addresses of a store's legal texts, with labels in the language of the mail if they are known. */
function legalLinks({ legalUrls = "{}" }: MailStore, { labels }: MailTemplates) {
  const urls = Object.entries(JSON.parse(legalUrls) as Record<string, string>);
  return urls.map(([name, url]) => {
    const known = name in labels ? labels[name as keyof typeof labels] : undefined;
    return { url, label: known ?? `${name.charAt(0).toUpperCase()}${name.slice(1).replaceAll("_", " ")}` };
  });
}

function storeAddress({ url, domain }: MailStore): string | null {
  const address = url ?? (domain === null ? null : `https://${domain}`);
  return address !== null && URL.canParse(address) && /^https?:$/.test(new URL(address).protocol) ? address : null;
}

/** Returns a name for the greeting or header; empty if the name looks like an advertisement. */
export function greetingName(name: string | null): string {
  const text = oneLine(name ?? "");
  return text.length > maxNameCharacters || /[@/\\<>]|www\.|\.\p{L}{2,}/iu.test(text) ? "" : text;
}

/** Replaces line breaks and other control characters, so that a text fits in a header. */
export function oneLine(text: string): string {
  return text
    .toWellFormed()
    .replace(/[\p{Cc}\u2028\u2029]+/gu, " ")
    .replace(/\s+/g, " ")
    .trim();
}
