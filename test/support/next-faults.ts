import { addNextMigration } from "./next-migration.ts";

const { NEXT_SCHEMA, NEXT_FAILS } = process.env;
if (NEXT_SCHEMA === "1") addNextMigration();
if (NEXT_FAILS === "early") {
  // This faulty release ends before it replaces the running server.
  const on = process.on.bind(process);
  process.on = ((event: string, listener: () => void) =>
    event === "SIGUSR2" ? process.exit(1) : on(event, listener)) as typeof process.on;
}
if (NEXT_FAILS === "late") {
  // This one migrates the database, and ends when it starts the job that expires orders, before it answers requests.
  const repeat = globalThis.setInterval;
  globalThis.setInterval = ((work: () => void, ms: number) =>
    ms === 10_000 ? process.exit(1) : repeat(work, ms)) as typeof setInterval;
}
