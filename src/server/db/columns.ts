import { getTableColumns } from "drizzle-orm";
import type { SQLiteColumn, SQLiteTable } from "drizzle-orm/sqlite-core";

type Columns<Table extends SQLiteTable> = Table["_"]["columns"];
type NameIn<Table extends SQLiteTable> = keyof Columns<Table> & string;

/** Some columns of a table for a selection. */
export function pick<Table extends SQLiteTable, Name extends NameIn<Table>>(table: Table, ...names: Name[]) {
  const columns = getTableColumns(table);
  return Object.fromEntries(names.map((name) => [name, columns[name]])) as Pick<Columns<Table>, Name>;
}

/** As `pick`, but with the names of the database, which are also those of the API: `created_at`. */
export function pickStored<Table extends SQLiteTable, Name extends NameIn<Table>>(table: Table, ...names: Name[]) {
  const columns = Object.values<SQLiteColumn>(pick(table, ...names));
  return Object.fromEntries(columns.map((column) => [column.name, column])) as {
    [Each in Name as Columns<Table>[Each]["_"]["name"]]: Columns<Table>[Each];
  };
}
