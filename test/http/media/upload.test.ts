import { expect } from "bun:test";
import { deflateSync, inflateSync } from "node:zlib";
import { updateTenant } from "../../../src/server/modules/tenants/service.ts";
import {
  makeBomb,
  makePhoto,
  makePng,
  makeScans,
  newPng,
  redGif,
  type Uploaded,
  upload,
} from "../../support/pictures.ts";
import { onDatabase, onEachDatabase } from "../../support/suite.ts";

const webp = (bytes: Uint8Array) => new Bun.Image(bytes).webp().bytes() as Promise<Uint8Array<ArrayBuffer>>;
const form = (...files: Uint8Array<ArrayBuffer>[]) => {
  const data = new FormData();
  for (const [at, file] of files.entries()) data.append(`file${at}`, new Blob([file], { type: "image/png" }), "a.png");
  return new Response(data);
};

onEachDatabase((suite) => {
  const { test, onFile } = suite;
  async function serve(picture: Uploaded, width: number | "original" = "original") {
    const response = await fetch(`${suite.app.url}${picture.url.replace("original", String(width))}`);
    expect(response.status).toBe(200);
    expect(response.headers.get("content-type")).toBe("image/webp");
    return new Uint8Array(await response.arrayBuffer());
  }

  test("a picture of any format is stored as WebP, and served to anyone", async ({ call }) => {
    const png = newPng(300, 200);
    const files = {
      "image/png": png,
      "image/jpeg": (await new Bun.Image(png).jpeg().bytes()) as Uint8Array<ArrayBuffer>,
      "image/webp": await webp(png),
    };
    for (const [type, file] of Object.entries(files)) {
      const { status, data } = await upload(call, file, type);
      expect(status).toBe(201);
      expect(data).toMatchObject({ id: expect.stringMatching(/^med_/), width: 300, height: 200 });
      const stored = await serve(data);
      expect(stored.length).toBe(data.bytes);
      expect(await new Bun.Image(stored).metadata()).toEqual({ width: 300, height: 200, format: "webp" });
    }
    const { data } = await upload(call, redGif, "image/gif");
    const pixel = await new Bun.Image(await serve(data)).png().buffer();
    expect(await new Bun.Image(pixel).metadata()).toMatchObject({ width: 1, height: 1 });
  });

  onFile("each width is made from the picture, which is never enlarged", async ({ call }) => {
    const { data } = await upload(call, newPng(1000, 500));
    for (const [width, served] of [
      [320, 320],
      [640, 640],
      [1280, 1000],
      [2560, 1000],
    ] as const) {
      for (const _ of ["made", "kept"]) {
        expect(await new Bun.Image(await serve(data, width)).metadata()).toMatchObject({
          width: served,
          height: served / 2,
        });
      }
    }
  });

  onFile("the same file is stored only once in a store", async () => {
    const [shop, other] = [await suite.shop(), await suite.shop()];
    const png = newPng();
    const first = await upload(shop.call, png);
    const again = await upload(shop.call, png);
    expect([first.status, again.status]).toEqual([201, 200]);
    expect(again.data).toEqual(first.data);
    const elsewhere = await upload(other.call, png);
    expect(elsewhere.status).toBe(201);
    expect(elsewhere.data.id).not.toBe(first.data.id);
    const stolen = first.data.url.replace(shop.namespace, other.namespace);
    expect((await fetch(`${suite.app.url}${stolen}`)).status).toBe(404);
  });

  onFile("concurrent first requests for a width get the same bytes", async ({ call }) => {
    const { data } = await upload(call, newPng(700, 300));
    const [first, ...others] = await Promise.all(Array.from({ length: 12 }, () => serve(data, 320)));
    for (const other of others) expect(other).toEqual(first as typeof other);
  });

  onFile("an upload beyond the store's quota is refused, and does not count", async ({ call, namespace }) => {
    const { data } = await upload(call, newPng(200, 200));
    await updateTenant(suite.app.system, namespace, { mediaQuota: Math.floor(data.bytes * 1.5) });
    const refused = await upload(call, newPng(200, 200));
    expect(refused.code).toBe(5306);
    expect(refused.error?.message).toContain("pictures use");
    await suite.app.db.execute({ sql: "delete from media where id = ?", args: [data.id] });
    expect((await upload(call, newPng(200, 200))).status).toBe(201);
  });

  onFile("a repeated upload with an Idempotency-Key gets the first reply", async ({ call }) => {
    const headers = { "content-type": "image/png", "idempotency-key": "one" };
    const send = (raw: Uint8Array<ArrayBuffer>) => call("POST /media/", { raw, headers });
    const png = newPng();
    const [first, again] = [await send(png), await send(png)];
    expect([again.status, again.data]).toEqual([201, first.data]);
    expect((await send(newPng())).code).toBe(5307);
  });
});

onDatabase("file", (suite) => {
  const { test } = suite;
  test("a photo is turned upright, and its location, owner and all other metadata are removed", async ({ call }) => {
    // Red on the left, blue on the right. After a quarter turn to the right, red is at the top.
    const png = makePng(60, 40, (x) => (x < 30 ? [250, 10, 10] : [10, 10, 250]));
    const photo = await makePhoto(png, 6);
    expect(Buffer.from(photo).includes("GPS 52.5")).toBe(true);
    const { data } = await upload(call, photo, "image/jpeg");
    expect([data.width, data.height]).toEqual([40, 60]);
    const stored = Buffer.from(await (await fetch(`${suite.app.url}${data.url}`)).arrayBuffer());
    for (const word of ["Exif", "EXIF", "GPS", "Ada", "XMP "]) expect(stored.includes(word)).toBe(false);
    const above = await new Bun.Image(stored).resize(1, 2).png({ compressionLevel: 0 }).buffer();
    const rows = Buffer.from(inflateSync(idat(above)));
    const channels = rows.length / 2 - 1;
    expect((rows[1] as number) > (rows[3] as number)).toBe(true);
    expect((rows[2 + channels] as number) < (rows[4 + channels] as number)).toBe(true);
  });

  test("text chunks, trailing data and a long colour profile are removed from a picture", async ({ call }) => {
    const script = Buffer.from("<script>alert(1)</script>");
    const profile = Buffer.alloc(40_000, script);
    profile.writeUInt32BE(profile.length, 0);
    profile.write("mntrRGB XYZ ", 12, "latin1");
    profile.write("acsp", 36, "latin1");
    const iccp = Buffer.concat([Buffer.from("x\0\0", "latin1"), deflateSync(profile)]);
    const comment = Buffer.concat([Buffer.from("Comment\0"), script]);
    const png = makePng(30, 20, () => [9, 200, 9], [
      { type: "iCCP", data: iccp },
      { type: "tEXt", data: comment },
    ]);
    const { data } = await upload(call, new Uint8Array(Buffer.concat([png, Buffer.from("PK\x03\x04"), script])));
    const stored = Buffer.from(await (await fetch(`${suite.app.url}${data.url}`)).arrayBuffer());
    expect(stored.includes("script")).toBe(false);
    expect(await new Bun.Image(stored).metadata()).toMatchObject({ width: 30, height: 20 });
  });

  test("a large picture is scaled down to 2560 pixels on its longer side", async ({ call }) => {
    const { data } = await upload(call, newPng(40, 3000));
    expect([data.width, data.height]).toEqual([34, 2560]);
  });

  const svg = new TextEncoder().encode('<svg xmlns="http://www.w3.org/2000/svg"><script>1</script></svg>');
  const png = newPng(300, 300);
  const gifBomb = new Uint8Array(redGif);
  // Sets a huge size in the header of the frame.
  const frame = gifBomb.indexOf(0x2c);
  for (const at of [5, 6, 7, 8]) gifBomb[frame + at] = 255;
  const refusals: [string, Uint8Array<ArrayBuffer> | Promise<Uint8Array<ArrayBuffer>>, number, string?][] = [
    ["SVG", svg, 5103],
    ["a text", new TextEncoder().encode("hello"), 5103],
    ["a bitmap", new Uint8Array(Buffer.concat([Buffer.from("BM"), Buffer.alloc(200)])), 5102],
    ["a PNG that claims 60,000 × 60,000 pixels", makeBomb(60_000, 60_000), 5102, "40 million"],
    ["a PNG that claims one row of 39 million pixels", makeBomb(39_000_000, 1), 5102, "16383"],
    ["a GIF that claims 65,535 × 65,535 pixels", gifBomb, 5102, "40 million"],
    ["a JPEG of 101 scans", makeScans(101, 8), 5102, "too many scans"],
    ["a JPEG of 28 scans of 36 million pixels", makeScans(28, 6000), 5102, "too many scans"],
    ["half a PNG", png.slice(0, png.length / 2), 5102, "cut off"],
    ["half a JPEG", makePhoto(png, 1).then((file) => file.slice(0, file.length / 2)), 5102, "cut off"],
    ["half a WebP", webp(png).then((file) => file.slice(0, file.length / 2)), 5102, "cut off"],
    ["a damaged PNG", png.map((byte, at) => (at > 60 ? byte ^ 85 : byte)), 5102, "damaged"],
    ["an empty body", new Uint8Array(0), 5100],
  ];
  for (const [name, file, code, message = ""] of refusals) {
    test(`${name} is refused`, async ({ call }) => {
      const refused = await upload(call, await file);
      expect(refused.code).toBe(code);
      expect(refused.text).toContain(message);
    });
  }

  test("a file can be uploaded as the only field of a form", async ({ call }) => {
    const send = async (...files: Uint8Array<ArrayBuffer>[]) => {
      const body = form(...files);
      const type = body.headers.get("content-type") as string;
      return call<Uploaded>("POST /media/", {
        raw: (await body.bytes()) as Uint8Array<ArrayBuffer>,
        headers: { "content-type": type },
      });
    };
    expect((await send(newPng(9, 9))).data).toMatchObject({ width: 9, height: 9 });
    for (const files of [[], [newPng(), newPng()]]) expect((await send(...files)).code).toBe(5100);
    const headers = { "content-type": "multipart/form-data; boundary=x" };
    expect((await call("POST /media/", { raw: "--x\r\nnonsense", headers })).code).toBe(5100);
  });

  test("an upload must be a picture, with any content type and without a content encoding", async ({ call }) => {
    const send = (raw: string | Uint8Array<ArrayBuffer>, headers: Record<string, string>) =>
      call("POST /media/", { raw, headers: { "content-type": "image/png", ...headers } });
    for (const type of ["application/json", "image/svg+xml", "image/png"]) {
      for (const raw of ["{}", "<svg xmlns='http://www.w3.org/2000/svg'/>"]) {
        expect((await send(raw, { "content-type": type })).code).toBe(5103);
      }
    }
    expect((await send(Bun.gzipSync(newPng()), { "content-encoding": "gzip" })).code).toBe(5103);
  });

  test("a file of 20 MiB is accepted, and a larger file is refused", async ({ call }) => {
    const padded = (bytes: number) => {
      const file = new Uint8Array(bytes);
      file.set(newPng());
      return file;
    };
    expect((await upload(call, padded(20 * 1024 * 1024))).status).toBe(201);
    expect((await upload(call, padded(20 * 1024 * 1024 + 1))).code).toBe(5104);
  });
});

/** Returns the compressed pixels of a PNG. */
function idat(png: Buffer): Buffer {
  const parts: Buffer[] = [];
  for (let at = 8; at < png.length; at += 12 + png.readUInt32BE(at)) {
    if (png.toString("latin1", at + 4, at + 8) === "IDAT")
      parts.push(png.subarray(at + 8, at + 8 + png.readUInt32BE(at)));
  }
  return Buffer.concat(parts);
}
