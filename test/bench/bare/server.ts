// The bare side of the benchmark: a Bun server with a copy of Bodega's database file. It runs the same look-ups,
// without credentials, checks and a log. SQLite's FTS5 indexes the words of products. Arguments: database file, port.
import { Database } from "bun:sqlite";
import { type DocumentRow, documentColumns, toDocument } from "./document.ts";
import { prepareOrders } from "./orders.ts";

interface Input {
  title: string;
  price: number;
  description?: string;
  sku?: string;
  stock?: number;
  images?: unknown[];
  tags?: string[];
  metadata?: Record<string, unknown>;
}

interface Rendered {
  json: string;
}

interface Inserted extends Rendered {
  row_number: number;
}

const [file = "", port = "0"] = process.argv.slice(2);
const headers = { "Content-Type": "application/json; charset=utf-8" };

const db = new Database(file);
db.run("PRAGMA journal_mode = WAL");
db.run("PRAGMA synchronous = FULL");
db.run("PRAGMA cache_size = -131072");
const tenantId = db.query<{ id: string }, []>("select id from tenants").get()?.id ?? "";
const one = "from products where tenant_id = ? and id = ? and deleted_at is null";
const newest = "from products where tenant_id = ? and deleted_at is null order by created_at desc, id desc limit 20";
const selectOne = db.query<Rendered, [string, string]>(`select rendered as json ${one}`);
const selectNewest = db.query<Rendered, [string]>(`select rendered as json ${newest}`);
const updatePrice = db.query<Rendered, (string | number)[]>(
  `update products set price_minor = ?, updated_at = ?, version = version + 1
  where tenant_id = ? and id = ? and deleted_at is null returning rendered as json`,
);
const selectNewestRows = db.query<DocumentRow, [string]>(`select ${documentColumns} ${newest}`);
const selectPricedRows = db.query<DocumentRow, (string | number)[]>(
  `select ${documentColumns} from products where tenant_id = ? and deleted_at is null and price_minor >= ?
    and price_minor < ? order by price_minor, id limit 20`,
);
const selectLaterRows = db.query<DocumentRow, string[]>(
  `select ${documentColumns} from products where tenant_id = ? and deleted_at is null and (created_at, id) < (?, ?)
  order by created_at desc, id desc limit 20`,
);
db.run("create virtual table if not exists bench_words using fts5(words, content='', detail=none)");
const insertWords = db.query("insert into bench_words (rowid, words) values (?, ?)");
const insert = db.query<Inserted, (string | number | null)[]>(
  `insert into products (id, tenant_id, title, slug, description, status, price_minor, currency, currency_digits, sku,
    stock, images, tags, metadata, lang, created_at, updated_at, published_at)
  values (?, ?, ?, ?, ?, 'published', ?, 'EUR', 2, ?, ?, ?, ?, ?, 'en', ?, ?, ?) returning row_number, rendered as json`,
);

const order = prepareOrders(db, tenantId);

function answer(json: string, status = 200): Response {
  return new Response(`{"data":${json}}`, { status, headers });
}

const create = db.transaction((input: Input): string => {
  const now = new Date().toISOString();
  const made = insert.get(
    `prod_${Bun.randomUUIDv7()}`,
    tenantId,
    input.title,
    input.title.toLowerCase().replace(/[^a-z0-9]+/g, "-"),
    input.description ?? null,
    Math.round(input.price * 100),
    input.sku ?? null,
    input.stock ?? null,
    JSON.stringify(input.images ?? []),
    JSON.stringify(input.tags ?? []),
    JSON.stringify(input.metadata ?? {}),
    now,
    now,
    now,
  ) as Inserted;
  insertWords.run(made.row_number, [input.title, input.description, input.sku, ...(input.tags ?? [])].join(" "));
  return made.json;
});

async function update(request: Bun.BunRequest<"/products/:id/">): Promise<Response> {
  const { price } = (await request.json()) as Input;
  const now = new Date().toISOString();
  const row = updatePrice.get(Math.round(price * 100), now, tenantId, request.params.id);
  return row ? answer(row.json) : new Response(null, { status: 404 });
}

Bun.serve({
  hostname: "127.0.0.1",
  port: Number(port),
  development: false,
  routes: {
    "/products/:id/": {
      GET: (request) => {
        const row = selectOne.get(tenantId, request.params.id);
        return row ? answer(row.json) : new Response(null, { status: 404 });
      },
      PATCH: update,
    },
    "/products/": {
      GET: () =>
        answer(
          `[${selectNewest
            .all(tenantId)
            .map(({ json }) => json)
            .join()}]`,
        ),
      POST: async (request) => answer(create.immediate((await request.json()) as Input), 201),
    },
    "/orders/": {
      POST: async (request) => {
        const made = order((await request.json()) as Parameters<typeof order>[0]);
        return made ? answer(made, 201) : new Response(null, { status: 409 });
      },
    },
    // The same reads without the stored JSON: builds every document from columns.
    "/columns/products/": () => answer(JSON.stringify(selectNewestRows.all(tenantId).map(toDocument))),
    "/columns/priced/": (request) => {
      const query = new URL(request.url).searchParams;
      const rows = selectPricedRows.all(tenantId, Number(query.get("from")), Number(query.get("to")));
      return answer(JSON.stringify(rows.map(toDocument)));
    },
    "/columns/later/": (request) => {
      const query = new URL(request.url).searchParams;
      const rows = selectLaterRows.all(tenantId, query.get("at") ?? "", query.get("id") ?? "");
      return answer(JSON.stringify(rows.map(toDocument)));
    },
    "/health/live": () => answer('{"status":"ok"}'),
  },
});
