import { join } from "node:path";

// The build defines it; run from source, it does not exist.
declare const BODEGA_COMMIT: string;

/** Whether this is the built executable, not the source run by Bun. */
export const isExecutable = typeof BODEGA_COMMIT === "string";

/** The words that start this program again, without arguments. */
export const ownCommand = isExecutable
  ? [process.execPath]
  : [process.execPath, join(import.meta.dir, "../../cli/main.ts")];
