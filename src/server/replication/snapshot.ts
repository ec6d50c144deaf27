import { createHash } from "node:crypto";
import { openSync, read as readFile } from "node:fs";
import { promisify } from "node:util";
import { type Link, partName, snapshotName } from "./names.ts";
import type { Place } from "./place.ts";
import { partBytes, type SnapshotHeader } from "./rebuild.ts";
import { sealed } from "./segment.ts";

const readAt = promisify(readFile);
const zstdLevel = 1;

/** Open for as long as the process lives: closing any descriptor of a database drops the process's locks on it. */
const openFiles = new Map<string, number>();

/** A snapshot that is being made: the database file is copied part by part, while segments go on. */
export class SnapshotCopy {
  readonly #place: Place;
  readonly #file: number;
  readonly #parts: SnapshotHeader["parts"] = [];
  readonly link: Link;
  /** Compressed. */
  bytes = 0;
  isCopied = false;

  /** @param link the last segment that the file contains for sure. */
  constructor(place: Place, databasePath: string, link: Link) {
    this.#place = place;
    this.link = link;
    const file = openFiles.get(databasePath) ?? openSync(databasePath, "r");
    openFiles.set(databasePath, file);
    this.#file = file;
  }

  /** Copies the next part. */
  async copyPart(): Promise<void> {
    const number = this.#parts.length + 1;
    const at = this.#parts.length * partBytes;
    const { bytesRead, buffer } = await readAt(this.#file, new Uint8Array(partBytes), 0, partBytes, at);
    this.isCopied = bytesRead < partBytes;
    if (bytesRead === 0) return;
    const part = buffer.subarray(0, bytesRead);
    const compressed = await Bun.zstdCompress(part, { level: zstdLevel });
    await this.#place.put(partName(this.link, number), compressed);
    this.#parts.push({ sha256: createHash("sha256").update(part).digest("hex"), bytes: bytesRead });
    this.bytes += compressed.length;
  }

  /** Makes the snapshot usable. @param through the segment with which the copy is whole. */
  async finish(header: { database: string; version: string; at: string; through: number }): Promise<void> {
    const whole: SnapshotHeader = { format: 1, ...this.link, ...header, parts: this.#parts };
    await this.#place.put(snapshotName(this.link), sealed(whole, new Uint8Array()).bytes);
  }
}
