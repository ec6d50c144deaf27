import { describe, expect, test } from "bun:test";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import type { MailStore } from "../../src/server/modules/mail/content.ts";
import { type AnyMailKind, mailKinds } from "../../src/server/modules/mail/kinds.ts";
import type { MailOrder } from "../../src/server/modules/mail/order-table.ts";
import { renderMail } from "../../src/server/modules/mail/render.ts";
import { type MailTemplates, mailTemplates } from "../../src/server/modules/mail/texts.ts";
import { attentionKinds } from "../../src/server/modules/orders/states.ts";
import { parseFromAddress } from "../../src/server/values/email.ts";

const kinds = Object.keys(mailKinds) as AnyMailKind[];
const languages = Object.keys(mailTemplates);
const store: MailStore = { title: "Lamp Shop", domain: null, url: null, logo: null, language: "en" };

const link = "https://shop.example/order#ord_1.Vq8";
const sale = { items: "2 × Mug", total: "19.00 EUR", instructions: "IBAN DE02\nBank", reference: "RF7217", link };
const parcel = { carrier: "DHL", tracking_number: "JD01", tracking_url: "https://dhl.example/JD01", rest: "1 × Cup" };
const refund = { refund_pending: "5.00 EUR", refund_paid: "1.00 EUR" };
const staff = { customer: "eve@example.com", reason: "overpaid", message: "It failed.", remedy: "bodega doctor" };
const values = { code: "012345", number: "17", time: "2030-01-15 12:00", ...sale, ...parcel, ...refund, ...staff };
const order: MailOrder = {
  ...{ currency: "EUR", digits: 2, amounts: { total: 3639 }, taxNote: "Note on <tax>" },
  lines: [{ quantity: 2, title: "Mug & Co", price: 1600, total: 3200 }],
  sums: [
    { label: "shipping", amount: 439, detail: "Standard" },
    { label: "total", amount: 3639 },
    { label: "includes_tax", amount: 581, rate: 19 },
    { label: "plus_tax", amount: 123, rate: 5.5 },
  ],
};

/** Renders a mail with all values that its kind needs. */
function render(kind: AnyMailKind, more: Partial<Parameters<typeof renderMail>[0]> = {}) {
  return renderMail({ kind, store, name: "Ada", languages: [], values, ...more });
}

function placeholders(texts: string[]): string[] {
  const found = texts.flatMap((text) => [...text.matchAll(/\{(?:order\.)?([^}]*)\}/g)]);
  return [...new Set(found.map(([, name]) => name as string))];
}

test("the name of every file with mail texts is a language", () => {
  const folder = join(import.meta.dir, "../../src/server/modules/mail/templates");
  const names = readdirSync(folder).map((name) => name.replace(".json", ""));
  expect(languages).toEqual(names.toSorted());
});

describe.each(languages)("%s", (language) => {
  const templates = mailTemplates[language] as MailTemplates;

  test("each language of mails has every text and exactly the known placeholders", () => {
    expect(Object.keys(templates).toSorted()).toEqual(Object.keys(mailTemplates.en as object).toSorted());
    expect(Intl.getCanonicalLocales(language)).toEqual([language]);
    expect(templates.direction).toBe(new Intl.Locale(language).maximize().script === "Arab" ? "rtl" : "ltr");
    expect(placeholders([templates.greeting])).toEqual(["name"]);
    expect(placeholders([templates.greeting_without_name])).toEqual([]);
    expect(placeholders([templates.footer])).toEqual(["store"]);
    for (const kind of kinds) {
      const { subject, paragraphs } = templates[kind];
      expect(subject.trim().length).toBeGreaterThan(3);
      expect(placeholders([subject]).filter((name) => name !== "number" && name !== "store")).toEqual([]);
      const known = new Set([...mailKinds[kind], "store", ...placeholders([subject])]);
      expect(placeholders([subject, ...paragraphs]).toSorted()).toEqual([...known].toSorted());
      expect(paragraphs).toHaveLength((mailTemplates.en as MailTemplates)[kind].paragraphs.length);
      for (const text of paragraphs) expect(text).toBe(text.trim());
      const alone = (["code", "items", "instructions", "link"] as const).filter((name) =>
        mailKinds[kind].includes(name as never),
      );
      const prefix = mailKinds[kind].includes("number" as never) ? "order." : "";
      for (const needed of alone) expect(paragraphs).toContain(`{${prefix}${needed}}`);
    }
  });

  test("a mail says how long a code is valid, and has the code alone on a line", () => {
    const { text, html } = render("reset_code", { languages: [language] });
    expect(text).toMatch(/15|١٥/);
    expect(text).toMatch(/\n\n012345\n\n/);
    expect(html).toMatch(/<bdi dir="ltr"[^>]*>012345<\/bdi>/);
    expect(html).toContain(`<html lang="${language}" dir="${templates.direction}">`);
  });

  test("a mail names the order, its link and the withdrawn items, in subject, text and HTML", () => {
    const mail = render("order_link", { languages: [language] });
    expect(mail.subject).toContain("17");
    expect(mail.html).toContain(`<title>${mail.subject.replace("'", "&#39;")}</title>`);
    expect(mail.text).toContain(`: ${link}\n\n`);
    expect(mail.html).toContain(`<a href="${link}"`);
    const receipt = render("withdrawal_received", { languages: [language] });
    for (const part of ["17", values.time, values.items]) expect(receipt.text).toContain(part);
    expect(receipt.html).toContain("<bdi>2 × Mug</bdi>");
    const unknown = render("withdrawal_received", { languages: [language], values: { ...values, items: "" } });
    expect(unknown.text.split("\n\n")).toHaveLength(receipt.text.split("\n\n").length - 1);
    expect(unknown.html).not.toContain("<bdi></bdi>");
  });

  test("a mail says why an order needs attention", () => {
    for (const reason of [...attentionKinds, "unknown_withdrawal"]) {
      const { text } = render("needs_attention", { languages: [language], values: { ...values, reason } });
      expect(text).not.toContain("{");
    }
  });

  test("the mail about a new order says how to pay, but only for a transfer", () => {
    const { text, html } = render("order_placed", { languages: [language] });
    for (const part of [...Object.values(sale), "17"]) expect(text).toContain(part);
    for (const part of ["IBAN DE02<br>Bank", `<a href="${link}"`]) expect(html).toContain(part);
    const none = { ...values, instructions: "", reference: "", link: "" };
    const plain = render("order_placed", { languages: [language], values: none });
    expect(plain.text.split("\n\n")).toHaveLength(text.split("\n\n").length - 3);
    for (const part of ["<bdi></bdi>", "href"]) expect(plain.html).not.toContain(part);
  });

  test("a mail shows the amounts of an order in HTML and text", () => {
    const { text, html } = render("order_placed", { languages: [language], order });
    const form = new Intl.NumberFormat(language, { style: "currency", currency: "EUR", numberingSystem: "latn" });
    for (const amount of [32, 4.39, 36.39, 5.81, 1.23].map((value) => form.format(value))) {
      for (const part of [text, html]) expect(part).toContain(amount);
    }
    for (const part of ["2 × Mug & Co", "· Standard", "19", "Note on <tax>"]) expect(text).toContain(part);
    for (const part of ["2 × Mug &#38; Co", "Note on &#60;tax&#62;"]) expect(html).toContain(part);
    expect(html.length).toBeLessThan(100_000);
  });

  test("every mail has a text for every placeholder, and the store's name", () => {
    for (const kind of kinds) {
      const mail = render(kind, { languages: [language] });
      expect(mail.language).toBe(language);
      for (const part of [mail.subject, mail.text, mail.html]) expect(part).not.toMatch(/\{[\w.]+\}|undefined|null/);
      for (const part of [mail.text, mail.html]) expect(part).toContain("Lamp Shop");
    }
  });
});

test("a mail is in the first requested language that has texts, also as its base language, and otherwise in English", () => {
  const cases: [wanted: (string | null | undefined)[], language: string][] = [
    [["fr"], "fr"],
    [["FR-ca"], "fr"],
    [["pt-BR", "de"], "pt"],
    [["zh-Hant-TW"], "zh"],
    [["ja", "de-AT", "fr"], "de"],
    [[undefined, null, "es"], "es"],
    [["ja", "ko"], "en"],
    [[], "en"],
    [["constructor", "__proto__", "§", "", "x".repeat(5000), "ar"], "ar"],
  ];
  const english = { ...store, language: "en" };
  for (const [wanted, language] of cases) {
    const { language: chosen } = render("test", { store: english, languages: wanted });
    expect({ wanted, language: chosen }).toEqual({ wanted, language });
  }
});

test("the store's language is used after the languages of the request and of the user", () => {
  const german = { ...store, language: "de-CH" };
  expect(render("test", { store: german }).language).toBe("de");
  expect(render("test", { store: german, languages: [undefined, "ja", null] }).language).toBe("de");
  expect(render("test", { store: german, languages: ["ja", "pt-PT"] }).language).toBe("pt");
});

test("titles, names and codes are escaped in the HTML of a mail", () => {
  const evil = `"><script>alert('1')</script>&amp;`;
  const { html } = render("reset_code", {
    store: { ...store, title: evil, url: `https://shop.example/?a="><b>`, logo: `https://shop.example/"onload="x` },
    name: `O'Neil & Söhne "x"`,
    values: { code: "<i>1</i>" },
  });
  expect(html).not.toMatch(/<script|<i>|<b>|"onload|alert\('/);
  expect(html).toContain("O&#39;Neil &#38; Söhne &#34;x&#34;");
  expect(html).toContain("&#38;amp;");
});

test("a value in a mail that looks like a placeholder is not replaced", () => {
  const { text } = render("reset_code", { store: { ...store, title: "{code} {name}" } });
  expect(text).toContain("your {code} {name} account");
});

test("a mail omits a blank name, and a name that looks like an advertisement", () => {
  const names = ["Win at https://evil.example", "evil.example", "www.evil", "a@b", "<b>", "x".repeat(61), " \r\n ", ""];
  for (const name of names)
    expect([name, render("test", { name }).text]).toEqual([name, expect.stringMatching(/^Hello,\n/)]);
  for (const name of ["Ada", "Dr. Ada King-Noel", "艾达", "J. R. R."]) {
    expect(render("test", { name }).text).toStartWith(`Hello ${name},\n`);
  }
});

test("a name in another text direction does not affect the rest of its line", () => {
  expect(render("test", { name: "آدا" }).text).toContain("Hello \u2068آدا\u2069,");
  expect(render("test", { languages: ["ar"] }).text).toContain("مرحبًا \u2068Ada\u2069،");
  expect(render("test").text).not.toMatch(/[\u2066-\u2069]/);
});

test("a mail links to the store's URL or domain, and shows its logo if it has one", () => {
  const cases: [Partial<MailStore>, string | null][] = [
    [{ url: "https://shop.example/start", domain: "other.example" }, "https://shop.example/start"],
    [{ domain: "shop.example" }, "https://shop.example"],
    [{}, null],
    [{ url: "javascript:alert(1)" }, null],
  ];
  for (const [more, address] of cases) {
    const { text, html } = render("test", { store: { ...store, ...more } });
    expect(/<a class="ink" href="([^"]*)"/.exec(html)?.[1] ?? null).toBe(address);
    if (address === null) expect(text).not.toMatch(/:\/\/|javascript/);
    else expect(text).toEndWith(`\n${address}\n`);
    expect(html).not.toContain("<img");
  }
  const { html } = render("test", { store: { ...store, logo: "https://shop.example/logo.png" } });
  expect(html).toContain('<img src="https://shop.example/logo.png" alt="Lamp Shop"');
});

test("the sender of mail is an address, with or without a name", () => {
  const domain = "example.com";
  expect(parseFromAddress(" shop@example.com ")).toEqual({ address: "shop@example.com", domain, name: "" });
  expect(parseFromAddress("<shop@example.com>")).toEqual({ address: "shop@example.com", domain, name: "" });
  const named = { address: "shop@example.com", domain, name: "My shop" };
  expect(parseFromAddress("My shop <shop@example.com>")).toEqual(named);
  expect(parseFromAddress('"Shop, my" <shop@example.com>')).toMatchObject({ name: "Shop, my" });
  expect(parseFromAddress("shop@BÜCHER.example")).toMatchObject({ domain: "xn--bcher-kva.example" });
  const refused = ["", "shop@", "a@b.example, c@d.example", "a <b> <c@d.example>", "a\r\nBcc: <a@b.example>", "<>"];
  for (const text of refused) expect({ text, from: parseFromAddress(text) }).toEqual({ text, from: null });
});
