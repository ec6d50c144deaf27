import { Database } from "bun:sqlite";
import { join } from "node:path";

/** All rows of all tables of a data directory that no process has open, by table, as SQL writes their values. */
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

/** How many rows each table has. */
export function countRows(dataDir: string): Record<string, number> {
  return Object.fromEntries(Object.entries(readContents(dataDir)).map(([table, rows]) => [table, rows.length]));
}
