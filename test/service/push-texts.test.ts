import { expect, test } from "bun:test";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { mailTemplates } from "../../src/server/modules/mail/texts.ts";
import {
  composePayload,
  notifiableEvents,
  orderText,
  orderTexts,
} from "../../src/server/modules/notifications/messages/compose.ts";

const folder = join(import.meta.dir, "../../src/server/modules/notifications/messages/texts");

test("the name of every file with texts is a language, and each language of mail has such a file", () => {
  const languages = readdirSync(folder).map((name) => name.replace(".json", ""));
  expect(Object.keys(orderTexts)).toEqual(languages.toSorted());
  expect(Object.keys(orderTexts)).toEqual(Object.keys(mailTemplates));
});

for (const [language, texts] of Object.entries(orderTexts)) {
  test(`${language} has a text for each change of an order, with the order's number once and no other placeholder`, () => {
    expect(Object.keys(texts)).toEqual([...notifiableEvents]);
    expect(new Set(Object.values(texts)).size).toBe(notifiableEvents.length);
    for (const text of Object.values(texts)) expect(text.match(/\{.*?\}/g)).toEqual(["{number}"]);
  });
}

test("a notification is in the first wanted language that has texts, otherwise in English", () => {
  for (const [wanted, language] of [
    [["tlh", "fr-CA"], "fr"],
    [[null, "es"], "es"],
    [["tlh"], "en"],
  ] as const) {
    expect(orderText("order.expired", 7, wanted)).toBe(
      orderTexts[language]?.["order.expired"].replace("{number}", "7") ?? "",
    );
  }
});

test("notifications are small enough for push services, with any title of the store", () => {
  const content = { type: "order.fulfilled", order_id: `ord_${"0".repeat(26)}`, number: 10 ** 9, status: "completed" };
  const task = { kind: "order", content: JSON.stringify(content), messageId: "msg_1", language: "ar" } as const;
  for (const lang of Object.keys(orderTexts)) {
    const payload = composePayload({ ...task, lang, store: "✨".repeat(200) });
    expect(Buffer.byteLength(JSON.stringify(payload))).toBeLessThan(1500);
  }
});
