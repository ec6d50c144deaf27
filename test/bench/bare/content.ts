// Likes and views of the bare side: rows, and counts that the table's triggers maintain. No visitors' signatures, no
// checks, no limits.
import type { Database } from "bun:sqlite";

interface Named {
  resource_type: string;
  resource_id: string;
  visitor?: string;
}

interface Counted {
  count: number;
}

/** Prepares the statements; both results take a body and return the count. */
export function prepareContent(db: Database, tenantId: string) {
  const insertLike = db.query(
    `insert into reactions (tenant_id, kind, resource_type, resource_id, actor, created_at) values (?, 'like', ?, ?, ?, ?)
    on conflict do nothing`,
  );
  const ofResource = "where tenant_id = ? and resource_type = ? and resource_id = ?";
  const countLikes = db.query<Counted, string[]>(`select likes as count from resource_counts ${ofResource}`);
  const countViews = db.query<Counted, string[]>(`select views as count from resource_counts ${ofResource}`);
  const insertMark = db.query(
    `insert into view_dedup_keys (day, tenant_id, resource_type, resource_id, dedup_key) values (?, ?, ?, ?, ?) on conflict do nothing`,
  );
  const addDay = db.query(
    `insert into view_days (tenant_id, resource_type, resource_id, day, views) values (?, ?, ?, ?, 1)
    on conflict do update set views = views + 1`,
  );
  const addView = db.query(
    `insert into resource_counts (tenant_id, resource_type, resource_id, views) values (?, ?, ?, 1)
    on conflict do update set views = views + 1`,
  );
  const noteView = db.transaction((day: string, type: string, id: string, mark: string) => {
    if (insertMark.run(day, tenantId, type, id, mark).changes === 0) return;
    addDay.run(tenantId, type, id, day);
    addView.run(tenantId, type, id);
  });
  return {
    like({ resource_type, resource_id }: Named): number {
      const now = new Date().toISOString();
      insertLike.run(tenantId, resource_type, resource_id, `vis_${Bun.randomUUIDv7()}`, now);
      return countLikes.get(tenantId, resource_type, resource_id)?.count ?? 0;
    },
    view({ resource_type, resource_id, visitor = "" }: Named): number {
      noteView.immediate(new Date().toISOString().slice(0, 10), resource_type, resource_id, visitor);
      return countViews.get(tenantId, resource_type, resource_id)?.count ?? 0;
    },
  };
}
