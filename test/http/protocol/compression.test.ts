import { expect } from "bun:test";
import { openAccount } from "../../support/account.ts";
import type { Shop } from "../../support/factories.ts";
import { onEachDatabase } from "../../support/suite.ts";

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

onEachDatabase((suite) => {
  const { test, onFile } = suite;
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
  for (const [accepted, coding] of table) {
    onFile(`Accept-Encoding: ${accepted || "(empty)"} gets ${coding}`, async (shop) => {
      await shop.createProduct({ description: "A mug of enamelled steel. ".repeat(60) });
      const reply = await receive(shop, "/products/", accepted);
      expect([reply.coding, reply.headers.get("vary")]).toEqual([coding, "Accept-Encoding, Authorization, Origin"]);
      expect(JSON.parse(reply.text)).toMatchObject({ data: [{ title: "Lamp" }] });
    });
  }

  test("lists are the same in every coding, have the same tag, and are not compressed below 1 KiB", async (shop) => {
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

  onFile("a reply with data of users or with secrets is never compressed", async (shop) => {
    const account = await openAccount(shop);
    const name = "x".repeat(100);
    for (let i = 0; i < 12; i++) await shop.call("POST /users/", { body: { email: `u${i}@example.com`, name } });
    expect((await receive(shop, "/users/", "gzip, zstd")).coding).toBe("none");
    expect((await receive(shop, `/users/${account.id}/`, "gzip, zstd")).coding).toBe("none");
    expect((await receive(shop, "/events/", "gzip, zstd")).coding).toBe("none");
  });

  onFile("the API description is compressed for clients that accept it", async (shop) => {
    const plain = await receive(shop, "/openapi.json", "");
    for (const coding of ["zstd", "gzip"]) {
      const reply = await receive(shop, "/openapi.json", coding);
      expect([reply.coding, reply.text]).toEqual([coding, plain.text]);
      expect(reply.headers.get("vary")).toBe("Accept-Encoding");
    }
  });
});
