import type { Account } from "./account.ts";
import type { Shop } from "./factories.ts";

/** An item of a wishlist in a reply. */
export interface WishReply {
  id: string;
  product_id: string;
  variant_id: string | null;
  note: string | null;
  price_at_add: number;
  price_at_add_minor: number;
  currency: string;
  product: { id: string; title: string; slug: string; image: string | null } | null;
  price: number | null;
  price_minor: number | null;
  available: boolean;
  version: number;
  created_at: string;
  updated_at: string;
}

/** Adds this many new products to a user's wishlist, with two statements. */
export async function fillWishlist({ app, namespace }: Shop, { id }: Account, count: number): Promise<void> {
  const numbers = `with recursive n (i) as (select 1 union all select i + 1 from n where i < ${count})`;
  const key = "printf('%s%05d', substr(t.id, -21), i)";
  const from = "from n, tenants t where t.namespace = ?";
  const now = "'2026-01-01T00:00:00.000Z'";
  await app.db.batch([
    {
      sql: `insert into products (id, tenant_id, title, slug, status, price_minor, currency, currency_digits, lang,
          created_at, updated_at)
        ${numbers} select 'prod_' || ${key}, t.id, 'Lamp', 'filler-' || i, 'published', 100, 'EUR', 2, 'en',
          ${now}, ${now} ${from}`,
      args: [namespace],
    },
    {
      sql: `insert into wishlist_items (id, tenant_id, user_id, product_id, price_at_add_minor, currency,
          currency_digits, created_at, updated_at)
        ${numbers} select 'wish_' || ${key}, t.id, ?, 'prod_' || ${key}, 100, 'EUR', 2, ${now}, ${now} ${from}`,
      args: [id, namespace],
    },
  ]);
}
