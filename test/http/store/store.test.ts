import { expect } from "bun:test";
import { updateTenant } from "../../../src/server/modules/tenants/service.ts";
import { goodPassword, openAccount } from "../../support/account.ts";
import { onDatabase } from "../../support/suite.ts";

onDatabase("file", (suite) => {
  const { test } = suite;
  test("GET /store/ returns the store of the login reply, its languages, and how customers sign up", async (shop) => {
    const logo = "https://shop.example.com/logo.svg";
    await updateTenant(suite.app.system, shop.namespace, {
      title: "Lamps",
      logo,
      signUp: "open",
      signInByMail: "on",
      language: "en",
    });
    const account = await openAccount(shop);
    const login = await shop.callAnonymously<{ store: object }>("POST /auth/login/", {
      body: { email: account.email, password: goodPassword },
    });
    const { data } = await shop.call("GET /store/");
    expect(data).toEqual({
      ...login.data.store,
      language: "en",
      languages: ["en"],
      sign_up: "open",
      sign_in_by_mail: true,
      ...{ country: null, prices_include_tax: true, tax_note: null, has_shipping_rates: false },
      payment_methods: ["manual"],
      ...{ hold: 3600, transfer_hold: 604_800, transfer_instructions: null, order_url: null, legal_urls: {} },
    });
    expect(data).toMatchObject({
      namespace: shop.namespace,
      title: "Lamps",
      logo,
      currency: "EUR",
      currency_sign: "€",
    });
  });

  test("the store's languages are those of its published products, each once", async (shop) => {
    const de = { title: "Lampe" };
    await shop.createProduct({ translations: { de } });
    await shop.createProduct({ translations: { de, fr: { title: "Lampe" } } });
    await shop.createProduct({ translations: { pl: { title: "Lampa" } }, status: "draft" });
    await shop.call("POST /products/", { query: { lang: "it" }, body: { title: "Lampada", price: 1 } });
    const { data } = await shop.call("GET /store/");
    expect(data.languages).toEqual(["de", "en", "fr", "it"]);
  });

  test("GET /store/ gets 304 until the store changes", async (shop) => {
    const read = async (tag: string) => {
      const { status, headers } = await shop.call("GET /store/", { headers: { "if-none-match": tag } });
      return { status, tag: headers.get("etag") as string };
    };
    const { tag } = await read("");
    expect((await read(tag)).status).toBe(304);
    await updateTenant(suite.app.system, shop.namespace, { title: "Another title" });
    expect((await read(tag)).status).toBe(200);
  });
});
