import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { openStoreDatabase } from "../../src/server/admin/open-database.ts";
import { createVault } from "../../src/server/security/vault.ts";
import { startTestApp } from "../support/app.ts";
import { type CallOptions, createClient } from "../support/client.ts";
import type { ProductReply } from "../support/factories.ts";
import { lastingPart, walkFrom } from "../support/kept-replies.ts";
import { ofProduct } from "../support/reactions.ts";
import { useServedShops } from "../support/served-shop.ts";

const { startServedShop } = useServedShops();

test("with two workers, cached replies equal the replies of a server without the cache, even after commands have changed data", async () => {
  const shop = await startServedShop({ workers: 2, fakeClock: false });
  const { call, binary, dataDir, namespace, auth } = shop;
  const key = readFileSync(join(dataDir, "secret.key"), "utf8").trim();
  const db = await openStoreDatabase({ dataDir });
  const clock = { now: Date.now, advance: () => {} };
  const plain = startTestApp({ db, clock, vault: createVault(() => key), replyCacheBytes: 0 });
  const withoutCache = createClient(plain, { namespace, auth });

  const ids: string[] = [];
  for (const title of ["Lamp", "Chair", "Table"]) {
    const { data } = await call<ProductReply>("POST /products/", { body: { title, price: 10, stock: 50 } });
    ids.push(data.id);
  }
  const { seed, below, pick } = walkFrom();
  const changes: (() => Promise<unknown>)[] = [
    () => call(`PATCH /products/${pick(ids)}/`, { body: { price: 1 + below(5) } }),
    () => call(`PATCH /products/${pick(ids)}/`, { body: { status: pick(["published", "draft"]) } }),
    () => call("POST /orders/", { body: { items: [{ product_id: pick(ids), quantity: 1 }] } }),
    () => call("POST /likes/", { body: ofProduct(pick(ids)) }),
  ];
  const commands: string[][] = [
    ["product", "stock", "-n", namespace, ids[0] as string, "+1"],
    ["product", "update", "-n", namespace, ids[1] as string, "--title-in", "de=Stuhl"],
    ["product", "delete", "-n", namespace, ids[2] as string, "--yes"],
    ["tenant", "update", namespace, "--language", "de", "--title", "Laden"],
    ["product", "restore", "-n", namespace, ids[2] as string],
  ];
  const reads: [request: string, query: NonNullable<CallOptions["query"]>][] = [
    ["GET /products/", {}],
    ["GET /products/", { sort: "price", limit: 2 }],
    ["GET /products/", { q: "lamp", lang: "de" }],
    ["GET /store/", {}],
    ...ids.map((id): [string, CallOptions["query"] & {}] => [`GET /products/${id}/`, { lang: "de" }]),
  ];
  for (let step = 0; step < 60; step++) {
    if (step % 10 === 9) await binary.json(...(commands[Math.floor(step / 10)] ?? commands[0] ?? []));
    else if (below(3) === 0) await pick(changes)();
    const [request, query] = pick(reads);
    // A new connection for each call, so that each worker can get it.
    const headers = { connection: "close", "accept-encoding": pick(["identity", "gzip", "zstd"]) };
    for (let round = 0; round < 3; round++) {
      const told = lastingPart(await call(request, { query, headers }));
      const right = lastingPart(await withoutCache(request, { query, headers }));
      expect({ seed, step, request, query, ...told }).toEqual({ seed, step, request, query, ...right });
    }
  }
  await plain.stop();
  await db.close();
}, 60_000);
