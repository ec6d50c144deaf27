import { join } from "node:path";

// The build defines it; run from source, it does not exist.
declare const BODEGA_COMMIT: string;

export const isExecutable = typeof BODEGA_COMMIT === "string";

export const ownCommand = isExecutable
  ? [process.execPath]
  : [process.execPath, join(import.meta.dir, "../../cli/main.ts")];
