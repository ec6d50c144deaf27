import { afterAll, afterEach, beforeAll, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Ctx } from "../../src/server/context.ts";
import type { AppError } from "../../src/server/errors.ts";
import {
  addPictures,
  listPictures,
  removePictures,
  storePictures,
} from "../../src/server/modules/catalogue/products/pictures.ts";
import { resolveStockItem } from "../../src/server/modules/catalogue/products/resolve.ts";
import { createProduct } from "../../src/server/modules/catalogue/products/service.ts";
import { readCsv } from "../../src/server/modules/catalogue/transfer/csv-read.ts";
import { importProducts } from "../../src/server/modules/catalogue/transfer/import.ts";
import { decodeApart } from "../../src/server/modules/media/decoder.ts";
import { readPicture } from "../../src/server/modules/media/picture.ts";
import {
  addPicture,
  getPicture,
  keptInS3Ms,
  openMediaBucket,
  purgeTrash,
  readUpload,
} from "../../src/server/modules/media/service.ts";
import { deleteTenant, requireTenant } from "../../src/server/modules/tenants/service.ts";
import { childrenOf, isRunning } from "../binary/processes.ts";
import { failureOf } from "../support/failure.ts";
import { makePng, newPng } from "../support/pictures.ts";
import { findInconsistencies } from "../support/record-check.ts";
import { startS3Server } from "../support/s3-server.ts";
import { onDatabase, type Suite } from "../support/suite.ts";
import { until } from "../support/until.ts";

let dir: string;
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), "bodega-pictures-"));
});
afterAll(() => rmSync(dir, { recursive: true, force: true }));

async function openStore(suite: Suite): Promise<Ctx> {
  const { namespace } = await suite.shop();
  return { ...suite.app.system, tenant: await requireTenant(suite.app.system, namespace) };
}

/** Writes files to a new directory, and returns its path. */
function folderOf(files: Record<string, Uint8Array>): string {
  const folder = mkdtempSync(join(dir, "f-"));
  for (const [name, bytes] of Object.entries(files)) {
    mkdirSync(join(folder, name, ".."), { recursive: true });
    writeFileSync(join(folder, name), bytes);
  }
  return folder;
}

const kindOf = async (work: Promise<unknown>) => ((await failureOf(work)) as AppError).kind;
const altsOf = (images: { alt: string }[]) => images.map(({ alt }) => alt);

onDatabase("file", (suite) => {
  test("doctor finds and fixes a wrong number of uses of a picture", async () => {
    const ctx = await openStore(suite);
    const { id } = await addPicture(ctx, newPng());
    await createProduct(ctx, { title: "Mug", price: 1, images: [{ media_id: id }] });
    const doctor = (fix = false) => findInconsistencies(suite.app.system, { namespace: ctx.tenant.namespace, fix });
    expect((await doctor()).inconsistencies).toEqual([]);
    await ctx.db.execute({ sql: "update media set uses = 0 where id = ?", args: [id] });
    expect((await doctor()).inconsistencies).toMatchObject([{ check: "pictures", subject: id, is: 0, should: 1 }]);
    await doctor(true);
    expect((await doctor()).inconsistencies).toEqual([]);
  });

  test("pictures are added to a product, and removed from it by id or address", async () => {
    const ctx = await openStore(suite);
    await createProduct(ctx, {
      title: "Mug",
      price: 1,
      sku: "MUG",
      images: [{ url: "https://a.example/1", alt: "one" }],
    });
    const item = await resolveStockItem(ctx, "MUG");
    const folder = folderOf({ "a.png": newPng(), "b.png": newPng() });
    const paths = [join(folder, "a.png"), join(folder, "b.png")];
    const added = await addPictures(ctx, item, paths, "new");
    expect(altsOf(added)).toEqual(["one", "new", "new"]);
    expect(await addPictures(ctx, item, paths, "again")).toEqual(added);
    const first = added[1]?.media_id as string;
    expect(altsOf(await removePictures(ctx, item, [first, "https://a.example/1"]))).toEqual(["new"]);
    expect(await kindOf(removePictures(ctx, item, [first]))).toBe("notFound");
    for (const path of [join(folder, "none.png"), folder]) {
      expect(await kindOf(addPictures(ctx, item, [path]))).toBe("validationFailed");
    }
  });

  test("an import uploads the pictures whose paths are in the file, and a second import changes nothing", async () => {
    const ctx = await openStore(suite);
    const folder = folderOf({ "mug.png": newPng(), "pics/red one.png": newPng(), "bad.png": new Uint8Array(9) });
    const text = [
      "title,price,sku,images,variant_sku,option:size,variant_images",
      "Mug,5,MUG,mug.png|https://a.example/1,,,",
      "Shirt,5,,,TS-S,S,pics/red one.png",
      "Bad,5,BAD,bad.png,,,",
      "None,5,NONE,none.png,,,",
    ].join("\n");
    async function* source() {
      yield text;
    }
    const run = (isDryRun: boolean) =>
      importProducts(ctx, storePictures(ctx, readCsv(source()), { folder, isDryRun }), { onError: "skip", isDryRun });
    const count = async () => {
      const sql = "select count(*) as n from media where tenant_id = ?";
      return (await ctx.db.execute({ sql, args: [ctx.tenant.id] })).rows[0]?.n;
    };
    const dry = await run(true);
    expect(dry).toMatchObject({ created: 2, failed: 2 });
    expect(await count()).toBe(0);
    const first = await run(false);
    expect(first).toMatchObject({ created: 2, failed: 2, errors: dry.errors });
    expect(first.errors.map(({ line, field }) => [line, field])).toEqual([
      [4, "images"],
      [5, "images"],
    ]);
    expect(await run(false)).toMatchObject({ unchanged: 2, failed: 2 });
    expect(await count()).toBe(2);
    const [mug, other] = await listPictures(ctx, await resolveStockItem(ctx, "MUG"));
    expect([mug?.media_id, other?.url]).toEqual([expect.stringMatching(/^med_/), "https://a.example/1"]);
    expect((await listPictures(ctx, await resolveStockItem(ctx, "TS-S"))).length).toBe(1);
  });

  test("the first request for a width does not wait for an upload that is being decoded", async () => {
    const ctx = await openStore(suite);
    const { id } = await addPicture(ctx, makePng(400, 200));
    let isDecoded = false;
    const upload = readPicture(newPng(4000, 4000), "another store").finally(() => {
      isDecoded = true;
    });
    await getPicture(ctx, id, 320);
    expect(isDecoded).toBe(false);
    await upload;
  }, 30_000);

  test("with S3, pictures and their widths are stored in the bucket, and removed 35 days after their deletion", async () => {
    const s3 = startS3Server("pictures");
    const account = { ...s3.account, endpoint: s3.url, region: "eu-central-1" };
    const media = openMediaBucket({ media: "s3://pictures/shop", s3: account });
    const ctx: Ctx = { ...(await openStore(suite)), media };
    const { id } = await addPicture(ctx, makePng(400, 200));
    const key = `shop/${ctx.tenant.id}/${id}`;
    expect([...s3.objects.keys()]).toEqual([`${key}/original.webp`]);
    const narrow = await getPicture(ctx, id, 320);
    expect(await new Bun.Image(narrow).metadata()).toMatchObject({ width: 320, height: 160 });
    expect([...s3.objects.keys()].toSorted()).toEqual([`${key}/320.webp`, `${key}/original.webp`]);
    expect(await getPicture(ctx, id, 320)).toEqual(narrow);
    expect(await kindOf(getPicture({ ...ctx, media: undefined }, id, 320))).toBe("unavailable");

    s3.fail = { when: /^PUT/, code: "AccessDenied" };
    const failure = (await failureOf(readUpload(ctx, newPng()))) as AppError;
    expect([failure.kind, failure.message]).toEqual(["unavailable", expect.stringContaining("AccessDenied")]);
    s3.fail = undefined;

    await deleteTenant(suite.app.system, ctx.tenant.namespace);
    const purge = (after: number) => purgeTrash({ db: ctx.db, now: () => Date.now() + after, media });
    await purge(keptInS3Ms - 60_000);
    expect(s3.objects.size).toBe(2);
    await purge(keptInS3Ms + 60_000);
    expect(s3.objects.size).toBe(0);
    await s3.close();
  });
});

const decode = (side: number, deadlineMs?: number) => decodeApart(newPng(side, side), deadlineMs);
const running = () => childrenOf(process.pid);
const before = new Set(running());
const decoders = () => running().filter((pid) => !before.has(pid));

afterEach(async () => {
  for (const pid of decoders()) process.kill(pid, "SIGKILL");
  await until("the process has ended", () => decoders().length === 0);
});

test("pictures are decoded in one process, which stays alive for the next picture", async () => {
  expect(await decode(50)).toMatchObject({ width: 50, height: 50 });
  const [first] = decoders();
  expect(await decode(60)).toMatchObject({ width: 60, height: 60 });
  expect(decoders()).toEqual([first as number]);
});

test("a picture that is not decoded before the deadline is refused, and the next picture is decoded", async () => {
  expect(await failureOf(decode(1000, 1))).toMatchObject({
    kind: "validationFailed",
    message: expect.stringContaining("takes too long to decode"),
  });
  expect(await decode(50)).toMatchObject({ width: 50 });
});

test("a picture whose decoder is killed gets 5001, and the next picture is decoded", async () => {
  await decode(50);
  const killed = failureOf(decode(1000));
  for (const pid of decoders()) process.kill(pid, "SIGKILL");
  expect(await killed).toMatchObject({ kind: "unavailable" });
  expect(await decode(50)).toMatchObject({ width: 50 });
});

test("the decoder process ends with the process that started it", async () => {
  const path = new URL("../../src/server/modules/media/decoder.ts", import.meta.url).pathname;
  const file = new URL("../support/pictures.ts", import.meta.url).pathname;
  const script = `const { decodeApart } = await import(${JSON.stringify(path)});
    const { newPng } = await import(${JSON.stringify(file)});
    await decodeApart(newPng()); console.log("done"); setInterval(() => {}, 1000);`;
  const parent = Bun.spawn([process.execPath, "-e", script], { stdout: "pipe" });
  await parent.stdout.getReader().read();
  const children = childrenOf(parent.pid);
  expect(children).toHaveLength(1);
  parent.kill("SIGKILL");
  await parent.exited;
  await until("the process has ended", () => children.every((pid) => !isRunning(pid)));
});
