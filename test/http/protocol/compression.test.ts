import { beforeAll, expect } from "bun:test";
import { openAccount } from "../../support/account.ts";
import type { Shop } from "../../support/factories.ts";
import { onDatabase } from "../../support/suite.ts";

const decoders = { gzip: Bun.gunzipSync, zstd: Bun.zstdDecompressSync, none: (bytes: Uint8Array) => bytes };

/** Reads a reply without decoding it. Returns its coding and its text. */
async function receive({ app, namespace, auth }: Shop, path: string, accepted: string) {
  const headers = { authorization: auth, "accept-encoding": accepted };
  const url = `${app.url}${path}${path.includes("?") ? "&" : "?"}namespace=${namespace}`;
  const reply = await fetch(url, { headers, decompress: false });
  const coding = reply.headers.get("content-encoding") ?? "none";
  const bytes = new Uint8Array(await reply.arrayBuffer());
  const text = new TextDecoder().decode(decoders[coding as keyof typeof decoders](bytes as Uint8Array<ArrayBuffer>));
  return { coding, bytes: bytes.length, text, headers: reply.headers };
}

onDatabase("file", (suite) => {
  const { test } = suite;
  let mugs: Shop;
  beforeAll(async () => {
    mugs = await suite.shop();
    await mugs.createProduct({ description: "A mug of enamelled steel. ".repeat(60) });
  });

  const table: [accepted: string, coding: string][] = [
    ["gzip", "gzip"],
    ["zstd", "zstd"],
    ["gzip, deflate, br, zstd", "zstd"],
    ["gzip, deflate, br", "gzip"],
    ["GZIP;Q=0.5", "gzip"],
    ["zstd;q=0, gzip", "gzip"],
    ["gzip;q=0", "none"],
    ["gzip ; q=0.000", "none"],
    ["*", "none"],
    ["br", "none"],
    ["identity", "none"],
    ["", "none"],
  ];
  test.each(table)("Accept-Encoding: %p gets %s", async (accepted, coding) => {
    const reply = await receive(mugs, "/products/", accepted);
    expect([reply.coding, reply.headers.get("vary")]).toEqual([coding, "Accept-Encoding, Authorization, Origin"]);
    expect(JSON.parse(reply.text)).toMatchObject({ data: [{ title: "Lamp" }] });
  });

  test("lists have the same content and ETag in every coding, and are not compressed below 1 KiB", async (shop) => {
    const read = async (accepted: string, coding: string) => {
      const reply = await receive(shop, "/products/?limit=100", accepted);
      expect(reply.coding).toBe(coding);
      const { request_id, ...rest } = JSON.parse(reply.text);
      return { rest, tag: reply.headers.get("etag"), bytes: reply.bytes };
    };
    await shop.createProduct();
    await read("zstd", "none");
    for (const length of [2000, 80_000, 200_000]) {
      await shop.createProduct({ description: "価".repeat(length / 4) });
      const [plain, zstd, gzip] = [await read("", "none"), await read("zstd", "zstd"), await read("gzip", "gzip")];
      for (const one of [zstd, gzip]) {
        expect({ ...one, bytes: plain.bytes }).toEqual(plain);
        expect(one.bytes).toBeLessThan(plain.bytes / 2);
      }
    }
  });

  test("a reply with data of users or with secrets is never compressed", async (shop) => {
    const account = await openAccount(shop);
    const metadata = { note: "x".repeat(2000) };
    await shop.call("POST /users/", { body: { email: "u@example.com", metadata } });
    for (const path of ["/users/", `/users/${account.id}/`, "/events/"])
      expect((await receive(shop, path, "gzip, zstd")).coding).toBe("none");
  });

  test("the API description is compressed for clients that accept it", async (shop) => {
    const plain = await receive(shop, "/openapi.json", "");
    for (const coding of ["zstd", "gzip"]) {
      const reply = await receive(shop, "/openapi.json", coding);
      expect([reply.coding, reply.text]).toEqual([coding, plain.text]);
      expect(reply.headers.get("vary")).toBe("Accept-Encoding");
    }
  });
});
