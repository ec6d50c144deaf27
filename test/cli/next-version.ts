// If this file is preloaded, the program is its next version, with one more migration.
import { addNextMigration } from "../support/next-migration.ts";

addNextMigration();
