import { addNextMigration } from "./next-migration.ts";

const { NEXT_SCHEMA, NEXT_FAILS } = process.env;
if (NEXT_SCHEMA === "1") addNextMigration();
if (NEXT_FAILS === "1") {
  // This faulty release migrates the database and then ends before it answers requests.
  const on = process.on.bind(process);
  process.on = ((event: string, listener: () => void) =>
    event === "SIGUSR2" ? process.exit(1) : on(event, listener)) as typeof process.on;
}
