import { type Migration, migrations } from "../../src/server/db/migrate.ts";

/** A migration that the next version of the program adds. */
export const nextMigration: Migration = {
  name: "0001_next",
  sql: "CREATE TABLE `next_things` (`id` text PRIMARY KEY NOT NULL);",
};

/** Gives this process the migrations of the next version. */
export function addNextMigration(): void {
  (migrations as Migration[]).push(nextMigration);
}

/** Runs `work` with the migrations of the next version. */
export async function inNextVersion<T>(work: () => Promise<T>): Promise<T> {
  addNextMigration();
  try {
    return await work();
  } finally {
    (migrations as Migration[]).pop();
  }
}
