import { closeSync, copyFileSync, fsyncSync, openSync, readSync, renameSync } from "node:fs";
import { chownLike } from "../../config/data-dir.ts";

const chunkBytes = 64 * 1024;

/** Waits until a file, or the entries of a directory, are on the disk. */
export function syncFile(path: string): void {
  const file = openSync(path, "r");
  try {
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

/** Reads a file to its end, so that all of it is in the system's cache. Errors are those of the disk. */
export function readToEnd(path: string): void {
  const file = openSync(path, "r");
  const chunk = Buffer.allocUnsafe(chunkBytes);
  try {
    for (let at = 0, bytes = -1; bytes !== 0; at += bytes) bytes = readSync(file, chunk, 0, chunk.length, at);
  } finally {
    closeSync(file);
  }
}

/** Copies a file. The copy gets its name when it is complete and on disk. */
export function copyWhole(path: string, target: string): void {
  const partial = `${target}.partial`;
  copyFileSync(path, partial);
  chownLike(partial, path);
  syncFile(partial);
  renameSync(partial, target);
}
