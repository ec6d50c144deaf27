import { createHash } from "node:crypto";
import { openSync, read as readFile } from "node:fs";
import { promisify } from "node:util";
import { type ClaimedLink, type Link, parseLinks, partName, prefixes, segmentName, snapshotName } from "./names.ts";
import { getObject, ignoreUnverified, putObject, type Replica } from "./objects.ts";
import { partBytes, type SnapshotHeader } from "./rebuild.ts";

const readAt = promisify(readFile);
const zstdLevel = 1;

/** Open for as long as the process lives: closing any descriptor of a database drops the process's locks on it. */
const openFiles = new Map<string, number>();

/** A snapshot that is being made: the database file is copied part by part, while segments go on. */
export class SnapshotCopy {
  readonly #place: Replica;
  readonly #file: number;
  readonly #parts: SnapshotHeader["parts"] = [];
  readonly link: ClaimedLink;
  /** Compressed. */
  bytes = 0;
  isCopied = false;
  /** Parts of an earlier copy that was not finished. */
  readonly #earlier: SnapshotHeader["parts"];

  /**
   * @param link the last segment that the file contains for sure.
   * @param earlier a copy that was not finished, whose equal parts are not sent again.
   */
  constructor(place: Replica, databasePath: string, link: ClaimedLink, earlier?: SnapshotCopy) {
    this.#place = place;
    this.link = link;
    this.#earlier = earlier ? [...earlier.#parts, ...earlier.#earlier.slice(earlier.#parts.length)] : [];
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
    const sha256 = createHash("sha256").update(part).digest("hex");
    const earlier = this.#earlier[number - 1];
    if (earlier?.sha256 === sha256) {
      this.#parts.push(earlier);
      return;
    }
    const compressed = await Bun.zstdCompress(part, { level: zstdLevel });
    const name = partName(this.link, number);
    await this.#place.put(name, compressed);
    this.#parts.push({ name, sha256, bytes: bytesRead });
    this.bytes += compressed.length;
  }

  /** Makes the snapshot usable. @param through the segment with which the copy is whole. */
  async finish(header: Pick<SnapshotHeader, "database" | "version" | "at" | "through">): Promise<void> {
    const whole: SnapshotHeader = { format: 1, ...this.link, ...header, parts: this.#parts };
    await putObject(this.#place, snapshotName(this.link), whole);
  }
}

/** Objects that are removed before a segment may be sent. */
const batch = 10;

/** Removes what no state of the kept time needs, a few objects at a time. */
export class Purge {
  readonly #place: Replica;
  readonly #keepMs: number;
  #isDue = false;
  #names: string[] = [];

  constructor(place: Replica, keepMs: number) {
    this.#place = place;
    this.#keepMs = keepMs;
  }

  /** A snapshot begins, which may need parts of an unfinished one. */
  stop(): void {
    this.#names = [];
    this.#isDue = false;
  }

  /** A new snapshot was made, so that older ones may not be needed any more. */
  begin(): void {
    this.#isDue = true;
  }

  /** Removes some objects; false when there is nothing to do. */
  async step(): Promise<boolean> {
    if (this.#isDue) {
      this.#names = await this.#findOld();
      this.#isDue = false;
    }
    for (const name of this.#names.splice(0, batch)) await this.#place.remove(name);
    return this.#names.length > 0;
  }

  /** Everything before the newest snapshot that is older than the kept time; unfinished snapshots too. */
  async #findOld(): Promise<string[]> {
    const snapshots = parseLinks(await this.#place.list(prefixes.snapshot));
    let first: Link | undefined;
    let newest: Link | undefined;
    const needed = new Map<string, string[]>();
    for (const link of snapshots) {
      const name = snapshotName(link);
      const found = await getObject<SnapshotHeader>(this.#place, name).catch(ignoreUnverified);
      if (found === undefined) continue;
      const { parts, at } = found.header;
      needed.set(
        name,
        parts.map((part) => part.name),
      );
      newest = link;
      if (Date.parse(at) < Date.now() - this.#keepMs) first = link;
    }
    if (newest === undefined) return [];
    const last = snapshotName(newest);
    const isOld = (link: Link, than: Link) => snapshotName(link) < snapshotName(than);
    const kept = snapshots.filter((link) => first === undefined || !isOld(link, first)).map(snapshotName);
    const keptParts = new Set(kept.flatMap((name) => needed.get(name) ?? []));
    // Snapshots of an earlier key are kept as long as others.
    const unread = new Set(kept.filter((name) => !needed.has(name)));
    const parts = (await this.#place.list(prefixes.part)).filter((name) => {
      const snapshot = name.replace(prefixes.part, prefixes.snapshot).replace(/-\d+$/, "");
      return snapshot < last && !keptParts.has(name) && !unread.has(snapshot);
    });
    if (first === undefined) return parts;
    const oldest = first;
    const segments = parseLinks(await this.#place.list(prefixes.segment)).filter(
      (link) => link.sequence <= oldest.sequence && link.generation <= oldest.generation,
    );
    const old = snapshots.filter((link) => isOld(link, oldest));
    // Snapshots first: one without its segments could not be restored.
    return [...old.map(snapshotName), ...segments.map(segmentName), ...parts];
  }
}
