import { describe, expect, test } from "bun:test";
import { migrate } from "../../src/server/db/migrate.ts";
import { migrations } from "../../src/server/db/migrations.ts";
import { kinds } from "./kinds.ts";

const before = migrations.slice(
  0,
  migrations.findIndex(({ name }) => name === "0004_store"),
);
const at = "2030-01-01T00:00:00.000Z";

describe.each(kinds)("a %s database from before orders", (_kind, open) => {
  test("keeps its products, as they were answered, and numbers them by age", async () => {
    const { db, dispose } = await open();
    await migrate(db, { migrations: before });
    await db.execute({
      sql: `INSERT INTO tenants (id, namespace, title, currency, currency_sign, language, created_at, updated_at)
        VALUES ('t', 'shop', 'Shop', 'EUR', '€', 'en', ?, ?)`,
      args: [at, at],
    });
    const insert = `INSERT INTO products (id, tenant_id, title, slug, status, price_minor, currency, currency_digits, sku,
      stock, tags, metadata, lang, version, created_at, updated_at, deleted_at)
      VALUES (?, 't', ?, ?, 'published', 1999, 'EUR', 2, ?, 5, '["a"]', '{"b":1}', 'en', 3, ?, ?, ?)`;
    for (const [id, age, deletedAt] of [
      ["p3", 3, null],
      ["p1", 1, at],
      ["p2", 2, null],
    ] as const) {
      const createdAt = `2030-01-0${age}T00:00:00.000Z`;
      await db.execute({ sql: insert, args: [id, `Title ${id}`, `slug-${id}`, `sku-${id}`, createdAt, at, deletedAt] });
    }
    const old = await db.execute("SELECT id, rendered FROM products ORDER BY id");

    await migrate(db);

    const { rows } = await db.execute("SELECT * FROM products ORDER BY row_number");
    expect(rows.map(({ id }) => id)).toEqual(["p1", "p2", "p3"]);
    expect(rows.map((row) => row.deleted_at)).toEqual([at, null, null]);
    for (const [index, row] of rows.entries()) {
      expect(row).toMatchObject({ stock: 5, reserved: 0, variants: "[]", is_indexed: 0, version: 3 });
      expect(JSON.parse(row.rendered as string)).toMatchObject(JSON.parse(old.rows[index]?.rendered as string));
    }
    expect((await db.execute("PRAGMA foreign_key_check")).rows).toEqual([]);
    await dispose();
  });
});
