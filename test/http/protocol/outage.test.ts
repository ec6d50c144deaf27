import { describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openStoreDatabase } from "../../../src/server/admin/open-database.ts";
import { migrate } from "../../../src/server/db/migrate.ts";
import { startTestApp } from "../../support/app.ts";
import { createShop, type ProductReply } from "../../support/factories.ts";
import { hasSqld, startSqld } from "../../support/sqld.ts";
import { until } from "../../support/until.ts";

describe.skipIf(!hasSqld)("an outage of the database server", () => {
  test("makes requests that need the database return 5001 until the server is back", async () => {
    const dir = mkdtempSync(join(tmpdir(), "bodega-outage-"));
    const options = { dir: join(dir, "server") };
    let server = await startSqld(options);
    const { url } = server;
    const db = await openStoreDatabase({ dataDir: join(dir, "data"), url });
    await migrate(db);
    const app = startTestApp({ db });
    const shop = await createShop(app);
    const { id } = await shop.createProduct();

    await server.stop();
    for (const [request, sent] of [
      ["GET /products/", {}],
      [`GET /products/${id}/`, {}],
      ["POST /products/", { body: { title: "Torch", price: 2 } }],
      ["GET /products/", { auth: "Bearer a:b" }],
      ["GET /health/ready", {}],
    ] as const) {
      const { code, status, headers } = await shop.call(request, sent);
      expect({ request, code, status, retry: headers.get("retry-after") }).toEqual({
        request,
        code: 5001,
        status: 503,
        retry: "1",
      });
    }
    expect((await shop.call("GET /health/live")).status).toBe(200);
    expect((await shop.call("GET /nothing/")).code).toBe(5106);

    server = await startSqld({ ...options, port: Number(new URL(url).port) });
    await until("the service works again", async () => (await shop.call("GET /health/ready")).status === 200);
    const { data } = await shop.call<ProductReply>(`PATCH /products/${id}/`, { body: { price: 3 } });
    expect(data).toMatchObject({ id, price: 3, version: 2 });
    expect((await shop.call<ProductReply>(`GET /products/${id}/`)).data).toEqual(data);

    await app.stop();
    await db.close();
    await server.stop();
    rmSync(dir, { recursive: true, force: true });
  }, 30_000);
});
