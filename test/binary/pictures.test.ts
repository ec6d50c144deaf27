import { beforeAll, expect, test } from "bun:test";
import { copyFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Binary, openShop, useBinaries } from "../support/binary.ts";
import { makePhoto, makePng } from "../support/pictures.ts";

const { installBinary, makeDir } = useBinaries();
let binary: Binary;
let shop: Awaited<ReturnType<typeof openShop>>;

beforeAll(async () => {
  binary = installBinary();
  shop = await openShop(binary);
});

async function read(url: string): Promise<Uint8Array> {
  const response = await fetch(url);
  expect([response.status, response.headers.get("content-type")]).toEqual([200, "image/webp"]);
  return new Uint8Array(await response.arrayBuffer());
}

test("a restored backup has the pictures that were added by a command and over HTTP, in all their widths", async () => {
  const server = await binary.serve("--workers", "2");
  const photo = await makePhoto(
    makePng(900, 600, (x, y) => [x & 255, y & 255, 90]),
    6,
  );
  const uploaded = await fetch(`${server.url}/media/?namespace=${shop.namespace}`, {
    method: "POST",
    body: photo,
    headers: { authorization: shop.auth, "content-type": "image/jpeg" },
  });
  const { data } = (await uploaded.json()) as { data: { id: string; url: string; width: number } };
  expect([uploaded.status, data.width]).toEqual([201, 600]);
  const file = join(makeDir(), "mug.png");
  writeFileSync(file, makePng(30, 20));
  const name = ["-n", shop.namespace];
  await binary.json("product", "create", ...name, "--title", "Mug", "--price", "5", "--sku", "MUG");
  const [shown] = await binary.json<{ url: string }[]>("product", "image", "add", "MUG", file, ...name);
  const paths = [data.url, data.url.replace("original", "320"), shown?.url as string];
  const before = await Promise.all(paths.map((path) => read(server.url + path)));
  const { backup } = await binary.json<{ backup: string }>("db", "backup", "--to", makeDir());
  await server.end();

  const target = makeDir();
  copyFileSync(join(binary.dir, "bodega-data", "secret.key"), join(target, "secret.key"));
  await binary.json("db", "restore", backup, "--data-dir", target, "--yes");
  const restored = await binary.serve("--data-dir", target);
  expect(await Promise.all(paths.map((path) => read(restored.url + path)))).toEqual(before);
  expect(await new Bun.Image(await read(restored.url + data.url.replace("original", "640"))).metadata()).toMatchObject({
    width: 600,
    height: 900,
  });
  await restored.end();
}, 60_000);
