import { expect, test } from "bun:test";
import type { TObject } from "@sinclair/typebox";
import { readBody } from "../../src/server/api/body.ts";
import { parseIfMatch, parseQuery } from "../../src/server/api/check-input.ts";
import { extractCredentials } from "../../src/server/api/credentials.ts";
import { clientAddressReader, requestIdOf } from "../../src/server/api/headers.ts";
import { routes } from "../../src/server/api/routes.ts";
import { formatRequest } from "../../src/server/logging/request-log.ts";
import { parseOrigin, parseOriginPattern } from "../../src/server/modules/app-keys/origin-pattern.ts";
import { ProductListQuery } from "../../src/server/modules/catalogue/list/model.ts";
import { indexTokens, searchWords } from "../../src/server/modules/catalogue/list/search-words.ts";
import { ProductInput } from "../../src/server/modules/catalogue/products/model.ts";
import { isSlug, slugFrom } from "../../src/server/modules/catalogue/products/slug.ts";
import { findColumn } from "../../src/server/modules/catalogue/transfer/csv-columns.ts";
import { readCsv } from "../../src/server/modules/catalogue/transfer/csv-read.ts";
import { decodeText, readNdjson } from "../../src/server/modules/catalogue/transfer/import-item.ts";
import { parseTarget } from "../../src/server/modules/notifications/registrations/target-input.ts";
import { requireStrongPassword } from "../../src/server/modules/passwords/password-policy.ts";
import { parseLanguage } from "../../src/server/modules/tenants/input.ts";
import { isBot } from "../../src/server/modules/views/service.ts";
import { decodeCursor } from "../../src/server/pagination/list-page.ts";
import { parseFields, parseIds, readTimeRange } from "../../src/server/pagination/list-query.ts";
import { guardFormula, readGuarded } from "../../src/server/values/csv-injection.ts";
import { emailKey } from "../../src/server/values/email.ts";
import { parseExactJson } from "../../src/server/values/exact-json.ts";
import { checkNote, metadataText } from "../../src/server/values/fields.ts";
import { addressGroup } from "../../src/server/values/ip-prefix.ts";
import { maskSecrets } from "../../src/server/values/mask-secrets.ts";
import { parseMoney } from "../../src/server/values/money.ts";
import { validate, validateQuery } from "../../src/server/values/validate.ts";
import { type AdversarialKind, adversarialKinds } from "../support/adversarial.ts";

const mebibyte = 1_048_576;
/** Sizes of texts in bytes. Each is four times the previous one. */
const sizes = [1, 4, 16, 64].map((kibibytes) => kibibytes * 1024);
/** Up to this size, all texts are tried. Beyond it, each size tries only the slowest eighth of the previous size. */
const allUpTo = 4096;
/**
 * The allowed growth of the time from one size to the next. Linear work takes four times as long, quadratic work
 * sixteen times.
 */
const maxGrowth = 10;
/** With this growth or less, no part of the work is quadratic. */
const linearGrowth = 6;
/** Compilation and garbage collection sometimes take this long. */
const noiseMs = 4;
/**
 * If a text took longer than this, its growth is reliable. If the growth is linear, longer texts of the kind are not
 * tried.
 */
const enoughMs = 1;

type Parse = (text: string) => unknown;

const headers = { "content-type": "application/json" };
const limits = { bytes: 8 * mebibyte, ms: 60_000 };
const receive = async (body: string, more: Record<string, string> = {}) => {
  const length = String(Buffer.byteLength(body));
  const request = new Request("http://a/", { method: "POST", body, headers: { ...headers, ...more } });
  request.headers.set("content-length", length);
  return (await readBody(request, limits, { left: 64 * mebibyte })).value;
};
/**
 * Cuts a text into pieces, like a file that is read. Yields an eighth of the text, because csv-parse needs a
 * microsecond for each byte.
 */
async function* cut(text: string): AsyncGenerator<Uint8Array> {
  const bytes = Buffer.from(text.slice(0, text.length / 8));
  for (let at = 0; at < bytes.length; at += 65_536) yield bytes.subarray(at, at + 65_536);
}
const readAll = async (items: AsyncIterable<unknown>) => {
  for await (const _item of items);
};
const read = (column: string, comma = false) => {
  const found = findColumn(column);
  return (text: string) => found?.read(text, comma);
};
const readAddress = clientAddressReader(["10.0.0.0/8"]);
const point = "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4";
const subscription = (endpoint: string, p256dh: string, auth: string) =>
  parseTarget("web", { subscription: { endpoint, keys: { p256dh, auth } } }, false);
const bodies = [...new Set(routes.flatMap(({ body }) => (body ? [body as TObject] : [])))];
const queries = [...new Set(routes.flatMap(({ query }) => (query ? [query] : [])))];
/** Returns an object with the fields of a schema, with values of the kinds that the schema requires. */
const fill = ({ properties = {} }: TObject, text: string) => {
  const kinds: Record<string, unknown> = { array: [text], object: { [text]: { [text.slice(0, 99)]: text } } };
  return Object.fromEntries(Object.entries(properties).map(([name, { type }]) => [name, kinds[type] ?? text]));
};
/** Tries all items. If one item is refused, the others must be tried, too. */
const tryEach = <T>(all: readonly T[], attempt: (one: T) => unknown) => {
  for (const one of all) {
    try {
      attempt(one);
    } catch {}
  }
};

const parsers: Record<string, Parse> = {
  "a JSON body": (text) => receive(text),
  "a JSON text": (text) => receive(JSON.stringify({ a: text, [text]: 1 })),
  "a JSON value": (text) => receive(`{"a":${text}}`),
  "JSON with exact numbers": (text) => parseExactJson(`{"a":${text}}`),
  "JSON with many numbers of many digits": (text) => parseExactJson(`[${text.replaceAll(/.{0,390}/gs, "1$&1,")}0]`),
  "bodies against their schemas": (text) => tryEach(bodies, (body) => validate(body, fill(body, text), "body")),
  "unknown fields of a body": (text) => tryEach(bodies, (body) => validate(body, { [text]: text }, "body")),
  "many errors under a long name": (text) => {
    const name = text.slice(0, text.length / 2);
    const fields = Object.fromEntries(Array.from({ length: Math.min(9000, text.length / 32) }, (_, n) => [`f${n}`, 1]));
    validate(ProductInput, { title: "A", price: 1, translations: { [name]: fields } }, "body");
  },
  "a query": (text) => parseQuery(`http://h/p/?${text}`),
  "a value of a query": (text) => parseQuery(`http://h/p/?a=${text}&b=1`),
  "queries against their schemas": (text) =>
    tryEach(queries, (query) => validateQuery(query, { ...fill(query, text), [text]: text } as Record<string, string>)),
  ids: parseIds,
  "a list of fields": (text) => parseFields(text, ["id", "title", "price"]),
  "a time": (text) => readTimeRange({ "at[gte]": text }, "at"),
  "a cursor": (text) => decodeCursor(text, ["tnt_1"]),
  "the content of a cursor": (text) => decodeCursor(Buffer.from(text).toString("base64url"), ["tnt_1"]),
  money: (text) => parseMoney("price", Number(text), 2),
  "money in JSON": (text) => {
    const { price } = parseExactJson(`{"price":1${text.replace(/\D/g, "0")}1}`) as { price: number };
    parseMoney("price", price, 2);
  },
  "search words": (text) => {
    validate(ProductListQuery, { q: text }, "query");
    searchWords("tnt_abc123", text);
  },
  "words for the index": (text) => indexTokens("tnt_abc123", [text, text]),
  "a slug": isSlug,
  "a title for a slug": slugFrom,
  "an email": emailKey,
  "an email's local part": (text) => emailKey(`${text}@example.com`),
  "a password": (text) => requireStrongPassword("password", text),
  "a note": (text) => checkNote("note", text, 2 * mebibyte),
  "a language": (text) => parseLanguage("lang", text),
  "metadata that is a text": (text) => metadataText({ a: text }),
  "metadata of names": (text) => metadataText({ [text]: [text, { [text]: text }] }),
  "an origin": (text) => parseOrigin(`https://${text}`),
  "an entry for origins": parseOriginPattern,
  "a CSV file": (text) => readAll(readCsv(decodeText(cut(text)))),
  "a CSV header": (text) => readAll(readCsv(decodeText(cut(`title,price,${text}`)))),
  "CSV rows": (text) => readAll(readCsv(decodeText(cut(`slug,title,price,option:size,option:colour\n${text}`)))),
  "a CSV cell": (text) => readAll(readCsv(decodeText(cut(`title,price\n"${text.replaceAll('"', '""')}`)))),
  "a cell for a number": read("price"),
  "a cell for a number with a decimal comma": read("price", true),
  "a cell for a list": read("tags"),
  "a cell for an object": read("metadata"),
  "a cell for pictures": read("images"),
  "a cell for options": read("variant_options"),
  "a cell that may be a formula": (text) => readGuarded(guardFormula(text)),
  "an NDJSON file": (text) => readAll(readNdjson(decodeText(cut(text)))),
  "a line of NDJSON": (text) => readAll(readNdjson(decodeText(cut(JSON.stringify({ title: text }))))),
  "the header If-Match": parseIfMatch,
  "the header X-Request-Id": (text) => requestIdOf(new Headers({ "x-request-id": text })),
  "the header X-Forwarded-For": (text) => readAddress("10.0.0.1", text),
  "the header Authorization": (text) =>
    tryEach(routes, (route) => extractCredentials(route, {}, `Bearer ${text}`, { user_id: text, token: text })),
  "the header Content-Type": (text) => receive("{}", { "content-type": text }),
  "the header User-Agent": isBot,
  "a path for the log": (text) => {
    const entry = { at: 0, level: "info", method: "GET", path: text, status: 200, ms: 1, request_id: "a" } as const;
    return formatRequest(entry, "text") + formatRequest({ ...entry, namespace: text }, "json");
  },
  "a text that may hold secrets": maskSecrets,
  "an address": addressGroup,
  "a push endpoint": (text) => subscription(`https://${text}`, point, "A".repeat(22)),
  "push keys": (text) => tryEach([point, text], (key) => subscription("https://push.example/1", key, text)),
  "a push token": (text) =>
    tryEach(["ios", "android"] as const, (platform) => parseTarget(platform, { token: text }, false)),
};

/** Measures processor time in milliseconds, which does not depend on other work of the machine. */
async function timeOf(parse: Parse, text: string): Promise<number> {
  const before = process.cpuUsage();
  try {
    await parse(text);
  } catch {
    // A refusal counts as a result.
  }
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}

/** Finds the first text whose time grows much faster than its length. */
async function findSuperlinear(parse: Parse): Promise<string | undefined> {
  let tried = adversarialKinds.map((kind) => ({ kind, text: "", ms: Number.POSITIVE_INFINITY }));
  for (const size of sizes) {
    const slow: typeof tried = [];
    for (const shorter of tried) {
      const text = write(shorter.kind, size);
      let [ms, least] = [await timeOf(parse, text), shorter.ms];
      const isSuspicious = () => ms > maxGrowth * least + noiseMs;
      for (let again = 0; again < 4 && isSuspicious(); again++) {
        ms = Math.min(ms, await timeOf(parse, text));
        least = Math.max(least, await timeOf(parse, shorter.text));
      }
      if (isSuspicious())
        return `${shorter.kind.name}: ${ms} ms for ${size} characters, ${least} ms for a quarter of them`;
      const isKnown = least > enoughMs && ms < linearGrowth * least;
      if (shorter.text === "" || !isKnown) slow.push({ kind: shorter.kind, text, ms });
    }
    slow.sort((a, b) => b.ms - a.ms);
    tried = size < allUpTo ? slow : slow.slice(0, Math.ceil(slow.length / 8));
  }
  return undefined;
}

const written = new Map<string, string>();

/** Returns a text. Short texts are cached, because all parsers get the same texts. */
function write({ name, write }: AdversarialKind, size: number): string {
  if (size > allUpTo) return write(size);
  const key = `${size} ${name}`;
  const text = written.get(key) ?? write(size);
  written.set(key, text);
  return text;
}

test.each(Object.entries(parsers))("%s needs linear time for any text", async (_, parse) => {
  expect(await findSuperlinear(parse)).toBeUndefined();
});
