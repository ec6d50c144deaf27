import { openStoreDatabase } from "../../src/server/admin/open-database.ts";

/** All rows of all tables of a data directory, by table, as SQL writes their values. */
export async function readContents(dataDir: string): Promise<Record<string, string[]>> {
  const db = await openStoreDatabase({ dataDir });
  try {
    const { rows: columns } = await db.execute(
      `select m.name as "table", group_concat('quote("' || c.name || '")', ' || '', '' || ') as line
       from sqlite_master m, pragma_table_info(m.name) c
       where m.type = 'table' and m.sql not like 'create virtual%' group by m.name order by m.name`,
    );
    const contents: Record<string, string[]> = {};
    for (const { table, line } of columns as unknown as { table: string; line: string }[]) {
      const { rows } = await db.execute(`select ${line} as line from "${table}" order by line`);
      contents[table] = rows.map((row) => String(row.line));
    }
    return contents;
  } finally {
    await db.close();
  }
}

/** How many rows each table has. */
export async function countRows(dataDir: string): Promise<Record<string, number>> {
  const contents = await readContents(dataDir);
  return Object.fromEntries(Object.entries(contents).map(([table, rows]) => [table, rows.length]));
}
