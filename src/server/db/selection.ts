import { Column } from "drizzle-orm/column";
import { is } from "drizzle-orm/entity";
import { noopDecoder, SQL, type SQLWrapper, sql } from "drizzle-orm/sql";
import type { SQLiteColumn, SQLiteTable } from "drizzle-orm/sqlite-core";
import { getTableColumns } from "drizzle-orm/utils";

/** Converts the values of one column. Null is not converted. */
export interface Decoder {
  name: string;
  decode: (value: unknown) => unknown;
}

type Field = Column | SQL | SQL.Aliased;
/** The private part of drizzle's queries. */
interface Selecting {
  config: { fields?: Record<string, Field>; returning?: { path: string[]; field: Field }[] };
}

/** Names the columns of a built query after the keys of its selection. Returns the decoders that some columns need. */
export function nameColumns(query: object): Decoder[] {
  const { config } = query as Selecting;
  const decoders: Decoder[] = [];
  const nameColumn = (name: string, field: Field): Field => {
    const source = is(field, SQL.Aliased) ? field.sql : field;
    const decoder = decoderOf(source);
    if (decoder) decoders.push({ name, decode: (value) => decoder.mapFromDriverValue(value) });
    return is(source, Column) && source.name === name ? source : sql`${source}`.as(name);
  };
  // The selection is copied, because statements may share it.
  const fields = Object.entries(config.fields ?? {}).map(([name, field]) => [name, nameColumn(name, field)]);
  if (config.fields) config.fields = Object.fromEntries(fields);
  for (const one of config.returning ?? []) one.field = nameColumn(one.path.join("."), one.field);
  return decoders;
}

/** Selects a column with JSON text as a parsed value. */
export function jsonOf<T>(text: SQLWrapper) {
  return sql`${text}`.mapWith((json: string) => JSON.parse(json) as T);
}

function decoderOf(source: Column | SQL) {
  if (is(source, Column)) return source.mapFromDriverValue === Column.prototype.mapFromDriverValue ? undefined : source;
  const { decoder } = source as unknown as { decoder: typeof noopDecoder };
  return decoder === noopDecoder ? undefined : decoder;
}

type Columns<Table extends SQLiteTable> = Table["_"]["columns"];
type NameIn<Table extends SQLiteTable> = keyof Columns<Table> & string;

export function pick<Table extends SQLiteTable, Name extends NameIn<Table>>(table: Table, ...names: Name[]) {
  const columns = getTableColumns(table);
  return Object.fromEntries(names.map((name) => [name, columns[name]])) as Pick<Columns<Table>, Name>;
}

/** Like `pick`, but with the names of columns in the database, such as `created_at`. The API uses the same names. */
export function pickStored<Table extends SQLiteTable, Name extends NameIn<Table>>(table: Table, ...names: Name[]) {
  const columns = Object.values<SQLiteColumn>(pick(table, ...names));
  return Object.fromEntries(columns.map((column) => [column.name, column])) as {
    [Each in Name as Columns<Table>[Each]["_"]["name"]]: Columns<Table>[Each];
  };
}
