import { expect } from "bun:test";
import type { CallOptions } from "../../support/client.ts";
import type { ProductReply, Shop } from "../../support/factories.ts";
import { onDatabase } from "../../support/suite.ts";

const missing = "prod_01h455vb4pex5vsknk084sn02q";

onDatabase("file", (suite) => {
  const { test } = suite;
  const lampOf = async (shop: Shop, translations: object = { de: { title: "Lampe", description: "Leuchtet." } }) =>
    shop.createProduct({ title: "Lamp", description: "Shines.", translations });
  const send = async ({ call }: Shop, request: string, options: CallOptions = {}) => {
    const { data, headers, status } = await call<ProductReply>(request, options);
    expect(status).toBeLessThan(300);
    expect(headers.get("content-language")).toBe(data.lang);
    return data;
  };
  const read = (shop: Shop, id: string, lang?: string) =>
    send(shop, `GET /products/${id}/`, lang === undefined ? {} : { query: { lang } });
  const texts = ({ lang, title, description }: ProductReply) => [lang, title, description];

  test("each text is in the requested language, else in its base language, else in the store's or the product's language", async () => {
    const shop = await suite.shop({ tenant: { language: "fr" } });
    const { call } = shop;
    const body = {
      title: "Lamp",
      description: "Shines.",
      price: 1,
      translations: {
        fr: { title: "Lampe fr" },
        pt: { title: "Lâmpada", description: "Brilha." },
        "zh-Hant": { title: "燈" },
        zh: { title: "灯", description: "会亮。" },
        it: { description: "Brilla." },
      },
    };
    const { id } = (await call<ProductReply>("POST /products/", { body, query: { lang: "en" } })).data;
    for (const [asked, lang, title, description] of [
      ["en", "en", "Lamp", "Shines."],
      ["en-GB", "en", "Lamp", "Shines."],
      ["pt", "pt", "Lâmpada", "Brilha."],
      ["pt-br", "pt", "Lâmpada", "Brilha."],
      ["zh-Hant-TW", "zh-Hant", "燈", "会亮。"],
      ["zh-Hant-u-co-stroke", "zh-Hant", "燈", "会亮。"],
      ["zh-TW", "zh", "灯", "会亮。"],
      // There is no Danish text: the store's language is used, or the product's language if that has no text.
      ["da", "fr", "Lampe fr", "Shines."],
      [undefined, "fr", "Lampe fr", "Shines."],
      // A text in the requested language comes before the language of the title.
      ["it", "fr", "Lampe fr", "Brilla."],
    ] as const) {
      expect([asked, ...texts(await read(shop, id, asked))]).toEqual([asked, lang, title, description]);
    }
  });

  test("a reply contains the texts in all other languages, including the product's own language if another is shown", async (shop) => {
    const { id } = await lampOf(shop, { de: { title: "Lampe" }, ja: { title: "ランプ", description: "光る。" } });
    const own = await read(shop, id);
    expect(own.translations).toEqual({ de: { title: "Lampe" }, ja: { title: "ランプ", description: "光る。" } });
    const german = await read(shop, id, "de");
    expect(german.translations).toEqual({
      ja: { title: "ランプ", description: "光る。" },
      en: { title: "Lamp", description: "Shines." },
    });
    // All fields except the texts must be the same.
    const { title: _a, description: _b, lang: _c, translations: _d, ...rest } = own;
    expect(german).toEqual({ ...german, ...rest });
  });

  test("no route can give a product more than 50 languages besides its own", async (shop) => {
    const names = Array.from({ length: 52 }, (_, n) => `q${String.fromCharCode(97 + (n % 26))}-A${n > 25 ? "B" : "A"}`);
    const all = (from: number, to: number) =>
      Object.fromEntries(names.slice(from, to).map((name) => [name, { title: name }]));
    const { id } = await lampOf(shop, all(0, 49));
    await send(shop, `PATCH /products/${id}/`, { query: { lang: names[49] as string }, body: { title: "50" } });
    const { version } = await read(shop, id);
    for (const [request, field, options] of [
      [`PATCH /products/${id}/`, "lang", { query: { lang: names[50] as string }, body: { title: "51" } }],
      [`PATCH /products/${id}/`, "lang", { query: { lang: names[50] as string }, body: { description: "51" } }],
      [`PATCH /products/${id}/`, "translations", { body: { translations: all(50, 51) } }],
      [`PATCH /products/${id}/`, "translations", { body: { translations: all(0, 52) } }],
      [`PUT /products/${id}/`, "translations", { body: { title: "A", price: 1, translations: all(0, 51) } }],
      ["POST /products/", "translations", { body: { title: "A", price: 1, translations: all(0, 51) } }],
    ] as [string, string, CallOptions][]) {
      const { code, fields, text } = await shop.call(request, options);
      expect([request, code, fields, text.includes("at most 50 languages")]).toEqual([request, 5102, [field], true]);
    }
    // Removed languages no longer count, even in the same request. Existing languages can always be changed.
    const [first = "", second = ""] = names;
    const query = { lang: second };
    await send(shop, `PATCH /products/${id}/`, { query, body: { title: "two", translations: { [first]: null } } });
    await send(shop, `PATCH /products/${id}/`, { body: { translations: { ...all(50, 51), [second]: null } } });
    await send(shop, `PATCH /products/${id}/`, { body: { title: "Own" } });
    const after = await read(shop, id);
    expect([after.version, Object.keys(after.translations).length]).toEqual([version + 3, 49]);
  });

  test("PATCH with lang writes the texts in that language, and other fields", async (shop) => {
    const { id, slug } = await lampOf(shop);
    const patch = (lang: string, body: object) => send(shop, `PATCH /products/${id}/`, { query: { lang }, body });
    expect(texts(await patch("de", { title: "Leuchte", price: 5 }))).toEqual(["de", "Leuchte", "Leuchtet."]);
    expect(texts(await patch("fr-ca", { title: "Lampe", description: "Brille." }))).toEqual([
      "fr-CA",
      "Lampe",
      "Brille.",
    ]);
    expect(texts(await patch("en", { description: "Glows." }))).toEqual(["en", "Lamp", "Glows."]);
    const now = await read(shop, id);
    expect([now.title, now.description, now.slug, now.price, now.version]).toEqual(["Lamp", "Glows.", slug, 5, 4]);
    expect(now.translations).toEqual({
      de: { title: "Leuchte", description: "Leuchtet." },
      "fr-CA": { title: "Lampe", description: "Brille." },
    });
    // Without a translated description, the product's own description is shown again.
    expect(texts(await patch("de", { description: null }))).toEqual(["de", "Leuchte", "Glows."]);
    expect(texts(await patch("en", { description: null }))).toEqual(["en", "Lamp", null]);
  });

  test("PATCH without lang changes the text that a read without lang returns", async () => {
    const shop = await suite.shop({ tenant: { language: "fr" } });
    const { call } = shop;
    const body = { title: "Lamp", description: "Shines.", price: 1, translations: { fr: { title: "Lampe" } } };
    const { id } = (await call<ProductReply>("POST /products/", { body, query: { lang: "en" } })).data;
    const patched = await send(shop, `PATCH /products/${id}/`, { body: { title: "Torche", description: "Glows." } });
    expect(texts(patched)).toEqual(["fr", "Torche", "Glows."]);
    expect(await read(shop, id)).toEqual(patched);
    expect(texts(await read(shop, id, "en"))).toEqual(["en", "Lamp", "Glows."]);
  });

  test("PATCH merges translations: null removes a text or a language, and other texts are kept", async (shop) => {
    const { id } = await lampOf(shop, { de: { title: "Lampe", description: "Leuchtet." }, fr: { title: "Lampe" } });
    const patch = async (translations: object) =>
      (await send(shop, `PATCH /products/${id}/`, { body: { translations } })).translations;
    expect(await patch({ de: { description: null }, "PT-br": { title: "Lâmpada" } })).toEqual({
      de: { title: "Lampe" },
      fr: { title: "Lampe" },
      "pt-BR": { title: "Lâmpada" },
    });
    expect(await patch({ de: { title: null }, fr: null, xx: null, yy: {} })).toEqual({ "pt-BR": { title: "Lâmpada" } });
    expect(await patch({ "pt-BR": { title: null } })).toEqual({});
  });

  test("PUT replaces all translations, and lang sets the language of the texts", async (shop) => {
    const { id } = await lampOf(shop);
    const put = (body: object, query = {}) =>
      send(shop, `PUT /products/${id}/`, { query, body: { title: "A", price: 1, ...body } });
    expect((await put({ translations: { fr: { title: "B" } } })).translations).toEqual({ fr: { title: "B" } });
    const german = await put({ translations: { en: { title: "C" } } }, { lang: "de" });
    expect([german.lang, german.title, german.translations]).toEqual(["de", "A", { en: { title: "C" } }]);
    expect((await read(shop, id)).title).toBe("C");
    const last = await put({});
    expect([last.lang, last.title, last.translations]).toEqual(["de", "A", {}]);
  });

  test("translations into the product's own language are refused", async (shop) => {
    const { id } = await lampOf(shop);
    for (const [request, query, tag] of [
      ["POST /products/", {}, "en"],
      ["POST /products/", { lang: "pt-br" }, "pt-BR"],
      [`PUT /products/${id}/`, {}, "en"],
      [`PUT /products/${id}/`, { lang: "fr" }, "fr"],
      [`PATCH /products/${id}/`, {}, "en"],
      [`PATCH /products/${id}/`, { lang: "de" }, "en"],
    ] as const) {
      const body = { title: "A", price: 1, translations: { [tag]: { title: "B" } } };
      const { code, fields } = await shop.call(request, { query, body });
      expect([request, query, code, fields]).toEqual([request, query, 5102, [`translations.${tag}`]]);
    }
    expect((await read(shop, id)).version).toBe(1);
  });

  test("translations of more than 512 KiB are refused, sent at once or after a merge", async (shop) => {
    // A backslash has two bytes in JSON.
    const sized = (count: number, from = 0) =>
      Object.fromEntries(
        Array.from({ length: count }, (_, n) => [
          `a${String.fromCharCode(97 + from + n)}`,
          { description: "\\".repeat(50_000) },
        ]),
      );
    const tooLarge = { code: 5102, fields: ["translations"] };
    expect(await shop.call("POST /products/", { body: body(sized(6)) })).toMatchObject(tooLarge);
    const { id } = await shop.createProduct({ translations: sized(3) });
    for (const translations of [sized(6), sized(3, 3)]) {
      expect(await shop.call(`PATCH /products/${id}/`, { body: { translations } })).toMatchObject(tooLarge);
    }
    const { data } = await shop.call<ProductReply>(`PATCH /products/${id}/`, {
      body: { translations: { ...sized(2, 3), aa: null } },
    });
    expect(Object.keys(data.translations as object)).toEqual(["ab", "ac", "ad", "ae"]);
    for (const [lang, outcome] of [
      ["af", { status: 200 }],
      ["ag", tooLarge],
    ] as const) {
      const sent = { query: { lang }, body: { description: "\\".repeat(50_000) } };
      expect(await shop.call(`PATCH /products/${id}/`, sent)).toMatchObject(outcome);
    }
    expect((await read(shop, id)).version).toBe(3);
  });

  const body = (translations: unknown) => ({ title: "A", price: 1, translations });
  const bad: [field: string, translations: unknown][] = [
    ["translations", []],
    ["translations", null],
    ["translations.not a language", { "not a language": { title: "A" } }],
    ["translations.de", { de: "Lampe" }],
    ["translations.de.title", { de: { title: "" } }],
    ["translations.de.title", { de: { title: " " } }],
    ["translations.de.title", { de: { title: "a\0" } }],
    ["translations.de.description", { de: { description: "\ud800" } }],
    ["translations.de.slug", { de: { slug: "a" } }],
    ["translations.de", { de: { title: "A" }, DE: { title: "B" } }],
  ];
  test("invalid translations are refused by name, on create and replace", async (shop) => {
    for (const [field, translations] of bad) {
      for (const request of ["POST /products/", `PUT /products/${missing}/`]) {
        const { code, fields } = await shop.call(request, { body: body(translations) });
        expect([request, translations, code, fields]).toEqual([request, translations, 5102, [field]]);
      }
    }
  });
});
