import { addNextMigration } from "./next-migration.ts";

const { NEXT_SCHEMA, NEXT_FAILS } = process.env;
if (NEXT_SCHEMA === "1") addNextMigration();
if (NEXT_FAILS === "1" && process.argv[2] === "serve") {
  // A faulty release: it migrates the database and then ends.
  Bun.spawnSync([process.execPath, "db", "migrate", ...process.argv.slice(3, 5)], {
    stdio: ["ignore", "ignore", "ignore"],
  });
  process.exit(1);
}
