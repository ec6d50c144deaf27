import { join } from "node:path";
import { openStoreDatabase } from "../../src/server/admin/open-database.ts";
import type { FileDatabase } from "../../src/server/db/local/file-database.ts";
import { comparePairs } from "./compare.ts";
import type { Bench } from "./measure.ts";
import type { Running } from "./process.ts";
import type { Row } from "./report.ts";
import { findPage, openTenant, startBodega } from "./store.ts";

/** A served store of one size, with its credentials. */
interface Shelf {
  server: Running;
  headers: Record<string, string>;
}

/** The number of products with the rare word, price and status, in a store of any size. */
const rare = 50;
const requestsOfRound = 100;

/** Inserts `?1` products. Of each `every` products, one has the rare word, one the rare status, one the rare price. */
const insertProducts = `with recursive n(i) as (select 1 union all select i + 1 from n where i < ?1)
  insert into products (id, tenant_id, title, slug, description, status, price_minor, currency, currency_digits, sku,
    stock, tags, lang, created_at, updated_at, published_at)
  select printf('prod_0%025d', i), ?3,
    'Bench ' || (i * 7919 % 10007) || case i % cast(?2 as integer) when 0 then ' rarity' else '' end, printf('bench-%08d', i),
    'A sturdy bench of oiled oak for two, delivered in one piece.',
    case i % cast(?2 as integer) when 1 then 'draft' else 'published' end,
    case i % cast(?2 as integer) when 2 then 777700 else i * 7919 % 100000 end, 'EUR', 2,
    printf('B-%08d', i), 40, '["furniture"' || iif(i % 10 = 3, ',"tenth"', '') || iif(i % cast(?2 as integer) = 5, ',"rare"', '') || ']', 'en', at, at, at
  from (select i, strftime('%Y-%m-%dT%H:%M:%fZ', 1767225600 + i, 'unixepoch') as at from n)`;

/** The requests to both stores, and the allowed ratio of the large store's time to the small one's. */
const questions: { name: string; query: string; atMost: number; page?: number }[] = [
  { name: "first page", query: "", atMost: 1.2 },
  { name: "page 1,000 by cursor", query: "", atMost: 1.2, page: 1000 },
  { name: "by title, page 1,000", query: "&sort=title", atMost: 1.2, page: 1000 },
  { name: "price range", query: "&price[gte]=100&price[lt]=300", atMost: 1.2 },
  { name: "price range, page 1,000", query: "&price[gte]=100&price[lt]=300", atMost: 1.2, page: 1000 },
  { name: "price of few products", query: "&price[gte]=7777&price[lte]=7777", atMost: 1.2 },
  { name: "status of few products, by price", query: "&status=draft&sort=price", atMost: 1.2 },
  { name: "filters without a match", query: "&updated_at[lt]=2020-01-01&price[gte]=1&sort=title", atMost: 1.2 },
  { name: "total", query: "&include_total=true", atMost: 1.2 },
  { name: "search, rare word", query: "&q=rarity", atMost: 3 },
  { name: "search, word of all products", query: "&q=bench", atMost: 3 },
  { name: "search, beginning of words of all products", query: "&q=b", atMost: 3 },
  { name: "search, word of all products, page 1,000", query: "&q=bench", atMost: 3, page: 1000 },
  { name: "search, rare and common word", query: "&q=rarity%20bench", atMost: 3 },
  { name: "search, common word, status of few products", query: "&q=bench&status=draft", atMost: 2 },
  { name: "search, common word, tag of few products", query: "&q=bench&tag=rare", atMost: 2 },
  { name: "search, common word, tag of a tenth of the products", query: "&q=bench&tag=tenth", atMost: 2 },
  { name: "search by relevance", query: "&q=sturdy&sort=relevance", atMost: 3 },
  { name: "search with a typing error", query: "&q=raritx", atMost: 3 },
  { name: "tag of few products", query: "&tag=rare", atMost: 2 },
  { name: "tag of a tenth of the products", query: "&tag=tenth", atMost: 2 },
  { name: "search, word of no product", query: "&q=nonesuch", atMost: 3 },
];

/**
 * Measures lists and searches in stores with a million and a thousand products, in milliseconds per request. The
 * requests are sent one after another.
 */
export async function measureScale(bench: Bench): Promise<Row[]> {
  const small = await openShelf(bench, 1000);
  const large = await openShelf(bench, 1_000_000);
  const rows: Row[] = [];
  for (const { name, query, atMost, page = 1 } of questions) {
    bench.say(name);
    const measure = async (shelf: Shelf) => {
      const { path } = await findPage(shelf.server, shelf.headers, query, page);
      const time = () => timeRequests(shelf, path);
      await time();
      return time;
    };
    const times = await comparePairs(bench.effort.rounds * 3, await measure(large), await measure(small));
    rows.push({ name: `${name}, 1M beside 1k`, unit: "ms", ...times, mark: { ratioAtMost: atMost } });
  }
  for (const { server } of [small, large]) await server.stop();
  return rows;
}

async function openShelf({ binary, workDir, say }: Bench, count: number): Promise<Shelf> {
  say(`${count.toLocaleString("en")} products`);
  const dataDir = join(workDir, `scale-${count}`);
  const headers = openTenant(binary, dataDir);
  const db = (await openStoreDatabase({ dataDir })) as FileDatabase;
  const { rows } = await db.execute("select id from tenants");
  // A large cache, because a server's small one would write pages again and again during the inserts.
  await db.execute("pragma cache_size = -2000000");
  // Creates indexes after the inserts, so that each of their pages is written once.
  const indexes = await db.execute(
    "select name, sql from sqlite_master where tbl_name = 'products' and type = 'index' and sql like 'create index %'",
  );
  for (const { name } of indexes.rows) await db.execute(`drop index ${name}`);
  await db.execute({ sql: insertProducts, args: [count, count / rare, rows[0]?.id as string] });
  for (const { sql } of indexes.rows) await db.execute(sql as string);
  while (!(await db.checkpoint()));
  await db.close();
  return { server: await startBodega(binary, dataDir), headers };
}

async function timeRequests({ server, headers }: Shelf, path: string): Promise<number> {
  const started = performance.now();
  for (let n = 0; n < requestsOfRound; n++) await (await fetch(server.url + path, { headers })).arrayBuffer();
  return (performance.now() - started) / requestsOfRound;
}
