// Preloaded before the program, makes it the next version: it has one more migration.
import { addNextMigration } from "../support/next-migration.ts";

addNextMigration();
