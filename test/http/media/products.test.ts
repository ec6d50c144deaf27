import { expect } from "bun:test";
import { purgePictures, unusedMs } from "../../../src/server/modules/media/service.ts";
import { startTestApp } from "../../support/app.ts";
import type { ProductReply, Shop } from "../../support/factories.ts";
import { upload } from "../../support/pictures.ts";
import { onDatabase } from "../../support/suite.ts";

const picture = async (shop: Shop) => (await upload(shop.call)).data;

onDatabase("file", (suite) => {
  const { test } = suite;
  test("a product and its variants contain uploaded pictures, in the order of their positions", async (shop) => {
    const [first, second] = [await picture(shop), await picture(shop)];
    const size = { width: 8, height: 6 };
    const { data } = await shop.call<ProductReply & { variants: { images: unknown }[] }>("POST /products/", {
      body: {
        title: "Lamp",
        price: 5,
        images: [
          { url: "https://a.example/1", position: 5 },
          { media_id: first.id, alt: "A lamp", position: 1 },
          { media_id: second.id, position: 1 },
        ],
        variants: [{ title: "Red", images: [{ media_id: first.id }] }],
      },
    });
    expect(data.images as unknown).toEqual([
      { media_id: first.id, url: first.url, alt: "A lamp", position: 0, ...size },
      { media_id: second.id, url: second.url, alt: "", position: 1, ...size },
      { url: "https://a.example/1", alt: "", position: 2 },
    ]);
    expect(data.variants[0]?.images).toEqual([{ media_id: first.id, url: first.url, alt: "", position: 0, ...size }]);
    // A PATCH accepts the pictures that a GET returned.
    const { status, data: again } = await shop.call(`PATCH /products/${data.id}/`, { body: { images: data.images } });
    expect([status, again.images]).toEqual([200, data.images]);
  });

  test("addresses of uploaded pictures are absolute on a server with a public URL, and paths without one", async (shop) => {
    const { id, url } = await picture(shop);
    const images = [{ media_id: id }, { url: "https://a.example/1" }];
    const metadata = { public: { url, note: `"media_id":"${id}","url":"${url}"` } };
    const product = await shop.createProduct({ images, metadata, variants: [{ title: "Red", images: [images[0]] }] });
    const published = startTestApp({ db: suite.app.db, publicUrl: "https://shop.example/api" });
    const read = async (base: string, path: string) => {
      const headers = { authorization: shop.auth, host: "evil.example", "x-forwarded-host": "evil.example" };
      const reply = await fetch(`${base}${path}?namespace=${shop.namespace}`, { headers });
      const { data } = (await reply.json()) as { data: ProductReply | ProductReply[] };
      return { product: [data].flat()[0] as ProductReply & Record<string, never>, tag: reply.headers.get("etag") };
    };
    for (const path of ["/products/", `/products/${product.id}/`]) {
      const [plain, absolute] = [await read(suite.app.url, path), await read(published.url, path)];
      const urlsOf = (record: { images: unknown }) => (record.images as { url: string }[]).map((image) => image.url);
      expect(urlsOf(plain.product)).toEqual([url, "https://a.example/1"]);
      expect(urlsOf(absolute.product)).toEqual([`https://shop.example/api${url}`, "https://a.example/1"]);
      expect(urlsOf(absolute.product.variants[0] as never)).toEqual([`https://shop.example/api${url}`]);
      expect(absolute.product.metadata as unknown).toEqual(metadata);
      expect(absolute.tag).not.toBe(plain.tag);
    }
    await published.stop();
  });

  test("a picture of another store, an unknown picture and a malformed id are refused", async () => {
    const [shop, other] = [await suite.shop(), await suite.shop()];
    const foreign = await picture(other);
    const product = await shop.createProduct({ variants: [{ title: "Red" }] });
    const variant = (product as unknown as { variants: { id: string }[] }).variants[0]?.id;
    const unknown = `${foreign.id.slice(0, -4)}0000`;
    for (const media_id of [foreign.id, unknown, "med_1"]) {
      const body = { images: [{ media_id }] };
      for (const path of [`/products/${product.id}/`, `/products/${product.id}/variants/${variant}/`]) {
        const refused = await shop.call(`PATCH ${path}`, { body });
        expect(refused.code).toBe(5102);
        expect(refused.fields[0]).toStartWith("images");
      }
      expect((await shop.call("POST /products/", { body: { title: "x", price: 1, ...body } })).code).toBe(5102);
    }
    expect((await shop.call(`PATCH /products/${product.id}/`, { body: { images: [{ alt: "x" }] } })).fields).toEqual([
      "images.0.url",
    ]);
  });

  test("a picture is deleted a day after its last use", async (shop) => {
    const { db, clock } = suite.app;
    const exists = async ({ url }: { url: string }) => (await fetch(`${suite.app.url}${url}`)).status === 200;
    const purge = async () => {
      while ((await purgePictures({ db, now: clock.now })) > 0);
    };
    const [unused, used, shared] = [await picture(shop), await picture(shop), await picture(shop)];
    const images = [{ media_id: used.id }, { media_id: shared.id }];
    const product = await shop.createProduct({
      images,
      variants: [{ title: "Red", images: [{ media_id: shared.id }] }],
    });
    clock.advance(unusedMs - 1000);
    await purge();
    expect(await exists(unused)).toBe(true);
    clock.advance(1000);
    await purge();
    expect([await exists(unused), await exists(used), await exists(shared)]).toEqual([false, true, true]);
    await shop.call(`PATCH /products/${product.id}/`, { body: { images: [] } });
    clock.advance(unusedMs - 1);
    await purge();
    expect([await exists(used), await exists(shared)]).toEqual([true, true]);
    clock.advance(1);
    await purge();
    expect([await exists(used), await exists(shared)]).toEqual([false, true]);
    await shop.call(`DELETE /products/${product.id}/`);
    clock.advance(unusedMs);
    await purge();
    expect(await exists(shared)).toBe(false);
  });

  test("the pictures of a store are deleted with the store", async (shop) => {
    const { id } = await picture(shop);
    await shop.createProduct({ images: [{ media_id: id }] });
    await suite.app.db.execute({ sql: "delete from tenants where namespace = ?", args: [shop.namespace] });
    const { rows } = await suite.app.db.execute({ sql: "select 1 from media_blobs where media_id = ?", args: [id] });
    expect(rows).toEqual([]);
  });
});
