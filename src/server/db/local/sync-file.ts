import { closeSync, fsyncSync, openSync } from "node:fs";

/** Waits until a file, or the entries of a directory, are on the disk. */
export function syncFile(path: string): void {
  const file = openSync(path, "r");
  try {
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}
