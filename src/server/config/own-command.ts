import { join } from "node:path";

// The build defines this constant. It does not exist when the program runs from source.
declare const BODEGA_COMMIT: string;

export const isExecutable = typeof BODEGA_COMMIT === "string";

export const ownCommand = isExecutable
  ? [process.execPath]
  : [process.execPath, join(import.meta.dir, "../../cli/main.ts")];
