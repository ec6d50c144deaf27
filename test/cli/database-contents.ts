import { Database } from "bun:sqlite";
import { join } from "node:path";

/** Reads all rows of all tables of a data directory, as SQL literals, by table. No process may have it open. */
export function readContents(dataDir: string): Record<string, string[]> {
  const db = new Database(join(dataDir, "bodega.db"), { readonly: true });
  try {
    const tables = db
      .query<{ table: string; line: string }, []>(
        `select m.name as "table", group_concat('quote("' || c.name || '")', ' || '', '' || ') as line
         from sqlite_master m, pragma_table_info(m.name) c
         where m.type = 'table' and m.sql not like 'create virtual%' group by m.name order by m.name`,
      )
      .all();
    const rowsOf = ({ table, line }: (typeof tables)[number]) =>
      db
        .query(`select ${line} as line from "${table}" order by line`)
        .values()
        .map(([row]) => String(row));
    return Object.fromEntries(tables.map((one) => [one.table, rowsOf(one)]));
  } finally {
    db.close();
  }
}

/** Counts the rows of each table. */
export function countRows(dataDir: string): Record<string, number> {
  const db = new Database(join(dataDir, "bodega.db"), { readonly: true });
  try {
    const tables = db
      .query<{ name: string }, []>(
        "select name from sqlite_master where type = 'table' and sql not like 'create virtual%' order by name",
      )
      .all();
    const counts = tables.map(({ name }) => `select '${name}', count(*) from "${name}"`);
    return Object.fromEntries(db.query(counts.join(" union all ")).values());
  } finally {
    db.close();
  }
}
