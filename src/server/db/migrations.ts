import initial from "../../../drizzle/0000_initial.sql" with { type: "text" };

/** A step of the schema. `name` is its file's name without the extension. */
export interface Migration {
  name: string;
  sql: string;
}

/** All migrations, oldest first. List each new file of drizzle/ here, so that the executable embeds it. */
export const migrations: readonly Migration[] = [{ name: "0000_initial", sql: initial }];
