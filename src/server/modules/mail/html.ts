import type { MailContent } from "./content.ts";
import layout from "./layout.txt" with { type: "text" };
import type { TableRow } from "./order-table.ts";
import { fill, linkNames, type Show } from "./texts.ts";

/** Renders a mail in HTML. Uses tables and inline styles, because mail programs show them alike. Escapes all texts. */
export function renderHtml(content: MailContent, logo: string | null): string {
  const { lines, language, templates, subject, heading, address, legal, values, rows } = content;
  const show: Show = (key, value) =>
    linkNames.includes(key) ? linkTo(value, value) : `<bdi>${escapeHtml(value).replaceAll("\n", "<br>")}</bdi>`;
  const { direction, labels } = templates;
  const title = escapeHtml(values.store as string);
  const head = logo
    ? `<img src="${escapeHtml(logo)}" alt="${title}" height="48" style="height:48px;max-width:100%;border:0">`
    : `<bdi>${title}</bdi>`;
  const linked =
    address === null
      ? head
      : `<a class="ink" href="${escapeHtml(address)}" style="color:#1f2328;text-decoration:none">${head}</a>`;
  const pages = legal.map(({ label, url }) => linkTo(url, label)).join(" · ");
  const renderLine = (line: string): string => {
    if (line === "{code}") return codeOf(values.code as string);
    if (line === "{order.link}") return buttonTo(values.link as string, labels.view_order);
    if (line === "{back_office}") return buttonTo(values.back_office as string, labels.back_office);
    if (rows && line === "{order.items}") return tableOf(rows, direction === "rtl" ? "left" : "right");
    return `<p style="margin:0 0 16px">${fill(escapeHtml(line), values, show)}</p>`;
  };
  const parts = {
    ...{ language, direction, align: direction === "rtl" ? "right" : "left", header: linked },
    ...{ subject: escapeHtml(subject), heading: `<bdi>${escapeHtml(heading)}</bdi>` },
    body: lines.map(renderLine).join("\n"),
    footer: `${fill(escapeHtml(templates.footer), values, show)}${pages === "" ? "" : `<br>${pages}`}`,
  };
  return fill(layout, parts, (_name, value) => value);
}

function codeOf(code: string): string {
  return `<p style="margin:24px 0;text-align:center"><bdi dir="ltr" class="code" style="${codeStyle}">${escapeHtml(code)}</bdi></p>`;
}

function linkTo(address: string, text: string): string {
  const href = escapeHtml(address);
  return `<a class="link" href="${href}" dir="${text === address ? "ltr" : "auto"}" style="color:#0b57d0">${escapeHtml(text)}</a>`;
}

function buttonTo(address: string, label: string): string {
  const button = `<a href="${escapeHtml(address)}" style="${buttonStyle}"><bdi>${escapeHtml(label)}</bdi></a>`;
  return `<table role="presentation" cellpadding="0" cellspacing="0" border="0" style="margin:8px 0 16px"><tr><td style="background:#0b57d0;border-radius:6px">${button}</td></tr></table>`;
}

function tableOf(rows: readonly TableRow[], end: "left" | "right"): string {
  const firstSum = rows.findIndex(({ isSum }) => isSum);
  const cells = rows.map(({ text, detail, amount, isSum, isStrong }, index) => {
    const line = index > firstSum && isSum ? "" : "border-top:1px solid #d8dbde;padding-top:10px;";
    const weight = isStrong ? "font-weight:bold;" : "";
    const style = `padding:2px 0 ${isSum ? 2 : 10}px;${line}${weight}vertical-align:top;color:#1f2328`;
    const more = detail && `<br><span class="soft" style="font-size:13px;color:#5b6168">${escapeHtml(detail)}</span>`;
    const first = `<td class="rule" style="${style}"><bdi>${escapeHtml(text)}</bdi>${more}</td>`;
    return `<tr>${first}<td class="rule" align="${end}" style="${style};white-space:nowrap">&nbsp;<bdi>${escapeHtml(amount)}</bdi></td></tr>`;
  });
  return `<table width="100%" cellpadding="0" cellspacing="0" border="0" style="margin:8px 0 24px;border-collapse:collapse;font-size:15px">${cells.join("")}</table>`;
}

const buttonStyle =
  "display:inline-block;padding:12px 20px;border-radius:6px;color:#ffffff;font-weight:bold;text-decoration:none";

const codeStyle =
  "display:inline-block;padding:12px 20px;background:#f4f5f6;border-radius:6px;color:#1f2328;" +
  "font-family:Consolas,Menlo,monospace;font-size:28px;font-weight:bold;letter-spacing:4px";

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
