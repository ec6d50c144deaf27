import { closeSync, copyFileSync, fsyncSync, openSync, renameSync } from "node:fs";
import { giveToOwner } from "../../config/data-dir.ts";

/** Waits until a file, or the entries of a directory, are on the disk. */
export function syncFile(path: string): void {
  const file = openSync(path, "r");
  try {
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

/** Copies a file, which gets its name when it is complete and on the disk. */
export function copyWhole(path: string, target: string): void {
  const partial = `${target}.partial`;
  copyFileSync(path, partial);
  giveToOwner(partial, path);
  syncFile(partial);
  renameSync(partial, target);
}
