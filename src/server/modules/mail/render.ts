import { chooseLanguage } from "../../values/choose-language.ts";
import type { tenants } from "../tenants/table.ts";
import type { AnyMailKind } from "./kinds.ts";
import layout from "./layout.txt" with { type: "text" };
import ar from "./templates/ar.json";
import de from "./templates/de.json";
import en from "./templates/en.json";
import es from "./templates/es.json";
import fr from "./templates/fr.json";
import pt from "./templates/pt.json";
import zh from "./templates/zh.json";

/** The texts of one language. All may contain `{store}` and `{name}`; those of a kind also its names in `mailKinds`. */
export type MailTemplates = typeof en;

export const mailTemplates: Record<string, MailTemplates> = { ar, de, en, es, fr, pt, zh };

export type MailStore = Pick<typeof tenants.$inferSelect, "title" | "domain" | "url" | "logo" | "language">;

type Show = (name: string, value: string) => string;

const maxNameCharacters = 60;
const rightToLeft = /[\p{Script=Arabic}\p{Script=Hebrew}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}]/u;

/**
 * Renders a mail from the store, the recipient's record and `values`, never from request data.
 * @param mail `languages`: BCP 47 tags in order of preference. The store's language follows.
 */
export function renderMail(mail: {
  kind: AnyMailKind;
  store: MailStore;
  name: string | null;
  languages: readonly (string | null | undefined)[];
  values: Record<string, string>;
}) {
  const content = readContent(mail);
  const { language, subject } = content;
  return { language, subject, text: renderText(content), html: renderHtml(content, mail.store.logo) };
}

type Content = ReturnType<typeof readContent>;

function readContent({ kind, store, name, languages, values }: Parameters<typeof renderMail>[0]) {
  const language = chooseLanguage([...languages, store.language], mailTemplates);
  const templates = mailTemplates[language] ?? en;
  const { subject, paragraphs } = templates[kind];
  const all: Record<string, string> = { ...values, store: oneLine(store.title), name: greetingName(name) };
  const greeting = all.name === "" ? templates.greeting_without_name : templates.greeting;
  // A paragraph about a value that is empty is left out.
  const isShown = (line: string) =>
    !Object.entries(values).some(([key, value]) => value === "" && line.includes(`{${key}}`));
  const lines = [greeting, ...paragraphs.filter(isShown)];
  const heading = fill(subject, all, (_name, value) => oneLine(value));
  return { lines, language, templates, subject: heading, address: storeAddress(store), values: all };
}

function renderText({ lines, templates, address, values }: Content): string {
  // Isolates a value whose direction may differ, but no code or link: people would copy the invisible characters too.
  const show: Show = (name, value) =>
    name !== "code" && name !== "link" && (templates.direction === "rtl" || rightToLeft.test(value))
      ? `\u2068${value}\u2069`
      : value;
  const parts = [...lines, templates.footer].map((line) => fill(line, values, show));
  return `${[...parts, ...(address === null ? [] : [address])].join("\n\n")}\n`;
}

function renderHtml({ lines, language, templates, subject, address, values }: Content, logo: string | null): string {
  const show: Show = (key, value) =>
    key === "link" ? linkTo(value) : `<bdi>${escapeHtml(value).replaceAll("\n", "<br>")}</bdi>`;
  const { direction } = templates;
  const title = escapeHtml(values.store as string);
  const head = logo
    ? `<img src="${escapeHtml(logo)}" alt="${title}" height="48" style="height:48px;max-width:100%;border:0">`
    : `<bdi>${title}</bdi>`;
  const linked =
    address === null ? head : `<a href="${escapeHtml(address)}" style="color:#1f2328;text-decoration:none">${head}</a>`;
  const parts = {
    ...{ language, direction, align: direction === "rtl" ? "right" : "left", header: linked },
    subject: escapeHtml(subject),
    body: lines.map((line) => renderLine(line, values, show)).join("\n"),
    footer: fill(escapeHtml(templates.footer), values, show),
  };
  return fill(layout, parts, (_name, value) => value);
}

/** A code has a line of its own. */
function renderLine(line: string, values: Record<string, string>, show: Show): string {
  if (line === "{code}") {
    const code = escapeHtml(values.code as string);
    return `<p style="margin:24px 0;text-align:center"><bdi dir="ltr" style="${codeStyle}">${code}</bdi></p>`;
  }
  return `<p style="margin:0 0 16px">${fill(escapeHtml(line), values, show)}</p>`;
}

function linkTo(address: string): string {
  const text = escapeHtml(address);
  return `<a href="${text}" dir="ltr" style="color:#0b57d0;word-break:break-all">${text}</a>`;
}

const codeStyle =
  "display:inline-block;padding:12px 20px;background:#f4f5f6;border-radius:6px;color:#1f2328;" +
  "font-family:Consolas,Menlo,monospace;font-size:28px;font-weight:bold;letter-spacing:4px";

function fill(text: string, values: Record<string, string>, show: Show): string {
  return text.replace(/\{(\w+)\}/g, (whole, name: string) => {
    const value = values[name];
    return value === undefined ? whole : show(name, value);
  });
}

function storeAddress({ url, domain }: MailStore): string | null {
  const address = url ?? (domain === null ? null : `https://${domain}`);
  return address !== null && URL.canParse(address) && /^https?:$/.test(new URL(address).protocol) ? address : null;
}

/** Returns a name for the greeting or header; empty if it looks like an advertisement. */
export function greetingName(name: string | null): string {
  const text = oneLine(name ?? "");
  return text.length > maxNameCharacters || /[@/\\<>]|www\.|\.\p{L}{2,}/iu.test(text) ? "" : text;
}

/** A text without line breaks and other control characters, for a header. */
export function oneLine(text: string): string {
  return text
    .toWellFormed()
    .replace(/[\p{Cc}\u2028\u2029]+/gu, " ")
    .replace(/\s+/g, " ")
    .trim();
}

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
