import { type MailContent, type MailInput, readContent } from "./content.ts";
import { renderHtml } from "./html.ts";
import { fill, linkNames, type Show } from "./texts.ts";

const rightToLeft = /[\p{Script=Arabic}\p{Script=Hebrew}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}]/u;

/** Renders a mail from the store, the recipient's record and `values`, never from request data. */
export function renderMail(mail: MailInput) {
  const content = readContent(mail);
  const { language, subject } = content;
  return { language, subject, text: renderText(content), html: renderHtml(content, mail.store.logo) };
}

function renderText({ lines, templates, address, legal, values, rows, heading, subject }: MailContent): string {
  const isolate = (value: string) =>
    templates.direction === "rtl" || rightToLeft.test(value) ? `\u2068${value}\u2069` : value;
  // Codes and links get no direction marks, because people would copy these invisible characters with them.
  const show: Show = (name, value) => (name === "code" || linkNames.includes(name) ? value : isolate(value));
  const body = lines.map((line) => {
    if (rows && line === "{order.items}") {
      const texts = rows.map(({ text, amount, detail }) => {
        const more = detail === "" ? "" : ` (${detail})`;
        return `${isolate(text)}${more}${amount === "" ? "" : `: ${isolate(amount)}`}`;
      });
      const sumsAt = rows.findIndex(({ isSum }) => isSum);
      return (sumsAt < 1 ? texts : texts.toSpliced(sumsAt, 0, "")).join("\n");
    }
    const label = { "{order.link}": templates.labels.view_order, "{back_office}": templates.labels.back_office }[line];
    const words = label === undefined ? line : `${label}: ${line}`;
    return fill(words, values, show);
  });
  const pages = legal.map(({ label, url }) => `${label}: ${url}`).join("\n");
  const parts = [heading === subject ? "" : heading, ...body, fill(templates.footer, values, show), address];
  return `${[...parts, pages].filter(Boolean).join("\n\n")}\n`;
}
