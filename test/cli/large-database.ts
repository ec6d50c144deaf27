import { copyFileSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { openStoreDatabase } from "../../src/server/admin/open-database.ts";
import { makeDir } from "./run-bodega.ts";

/** Copies a database to a new data directory, and adds about this many MB of data that cannot be compressed. */
export async function copyWithFiller(dataDir: string, megabytes: number): Promise<string> {
  const large = join(makeDir(), "data");
  mkdirSync(large);
  copyFileSync(join(dataDir, "bodega.db"), join(large, "bodega.db"));
  const db = await openStoreDatabase({ dataDir: large });
  await db.execute({
    sql: `insert into audit_log (at, event, actor_kind, request_id, details, hash)
      with recursive n(i) as (select 1 union all select i + 1 from n where i < ?1)
      select '2026-01-01', 'doctor.fixed', 'server', 'x', cast(randomblob(1000000) as text), 'x' from n`,
    args: [megabytes],
  });
  await db.close();
  return large;
}
