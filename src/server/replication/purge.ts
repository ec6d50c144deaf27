import { type Link, parseLinks, prefixes, segmentName, snapshotName } from "./names.ts";
import type { Place } from "./place.ts";
import type { SnapshotHeader } from "./rebuild.ts";
import { unseal } from "./segment.ts";

/** Objects that are removed before a segment may be sent. */
const batch = 10;

/** Removes what no state of the kept time needs, a few objects at a time. */
export class Purge {
  readonly #place: Place;
  readonly #keepMs: number;
  #isDue = false;
  #names: string[] = [];

  constructor(place: Place, keepMs: number) {
    this.#place = place;
    this.#keepMs = keepMs;
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
    for (const link of snapshots) {
      const name = snapshotName(link);
      const bytes = await this.#place.get(name);
      if (bytes === undefined) continue;
      const { header } = unseal<SnapshotHeader>(bytes, name);
      if (Date.parse(header.at) < Date.now() - this.#keepMs) first = link;
    }
    const newest = snapshots.at(-1);
    if (newest === undefined) return [];
    const isOld = (link: Link, than: Link) => snapshotName(link) < snapshotName(than);
    const kept = new Set(snapshots.filter((link) => first === undefined || !isOld(link, first)).map(snapshotName));
    const parts = (await this.#place.list(prefixes.part)).filter((name) => {
      const snapshot = name.replace(prefixes.part, prefixes.snapshot).replace(/-\d+$/, "");
      return snapshot < snapshotName(newest) && !kept.has(snapshot);
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
