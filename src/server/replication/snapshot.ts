import { createHash } from "node:crypto";
import { openSync, read as readFile } from "node:fs";
import { promisify } from "node:util";
import { type ClaimedLink, type Link, parseLinks, partName, prefixes, segmentName, snapshotName } from "./names.ts";
import { getObject, ignoreUnverified, putObject, type Replica } from "./objects.ts";
import { partBytes, type SnapshotHeader } from "./rebuild.ts";

const readAt = promisify(readFile);
const zstdLevel = 1;

/** Files stay open for as long as the process lives, because closing any descriptor drops the process's locks. */
const openFiles = new Map<string, number>();

export class SnapshotCopy {
  readonly #place: Replica;
  readonly #file: number;
  readonly #parts: SnapshotHeader["parts"] = [];
  readonly link: ClaimedLink;
  /** The compressed size. */
  bytes = 0;
  isCopied = false;
  readonly #earlier: SnapshotHeader["parts"];

  /** `link` is the last segment that the file surely contains. Equal parts of `earlier` are not sent again. */
  constructor(place: Replica, databasePath: string, link: ClaimedLink, earlier?: SnapshotCopy) {
    this.#place = place;
    this.link = link;
    this.#earlier = earlier ? [...earlier.#parts, ...earlier.#earlier.slice(earlier.#parts.length)] : [];
    const file = openFiles.get(databasePath) ?? openSync(databasePath, "r");
    openFiles.set(databasePath, file);
    this.#file = file;
  }

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

  /** Makes the snapshot usable. The copy is consistent with the segment `through`. */
  async finish(header: Pick<SnapshotHeader, "database" | "version" | "at" | "through">): Promise<void> {
    const whole: SnapshotHeader = { format: 1, ...this.link, ...header, parts: this.#parts };
    await putObject(this.#place, snapshotName(this.link), whole);
  }
}

/** So many objects are removed before a segment may be sent. */
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

  /** A new snapshot may need parts of an unfinished one. */
  stop(): void {
    this.#names = [];
    this.#isDue = false;
  }

  begin(): void {
    this.#isDue = true;
  }

  async step(): Promise<boolean> {
    if (this.#isDue) {
      this.#names = await this.#findOld();
      this.#isDue = false;
    }
    for (const name of this.#names.splice(0, batch)) await this.#place.remove(name);
    return this.#names.length > 0;
  }

  async #findOld(): Promise<string[]> {
    const snapshots = parseLinks(await this.#place.list(prefixes.snapshot));
    let first: Link | undefined;
    let newest: Link | undefined;
    const needed = new Map<string, SnapshotHeader["parts"]>();
    for (const link of snapshots) {
      const name = snapshotName(link);
      const found = await getObject<SnapshotHeader>(this.#place, name).catch(ignoreUnverified);
      if (found === undefined) continue;
      const { parts, at } = found.header;
      needed.set(name, parts);
      newest = link;
      if (Date.parse(at) < Date.now() - this.#keepMs) first = link;
    }
    if (newest === undefined) return [];
    const last = snapshotName(newest);
    const isOld = (link: Link, than: Link) => snapshotName(link) < snapshotName(than);
    const kept = snapshots.filter((link) => first === undefined || !isOld(link, first)).map(snapshotName);
    const keptParts = new Set(kept.flatMap((name) => needed.get(name) ?? []).map((part) => part.name));
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
    // Snapshots come first, because one without its segments could not be restored.
    return [...old.map(snapshotName), ...segments.map(segmentName), ...parts];
  }
}
