import { openSync, read as readFile } from "node:fs";
import { promisify } from "node:util";
import {
  type ClaimedSegmentId,
  listIds,
  partName,
  prefixes,
  type SegmentId,
  segmentName,
  snapshotName,
} from "./names.ts";
import { getObject, ignoreUnverified, putObject } from "./objects.ts";
import { partBytes, type SnapshotHeader } from "./rebuild.ts";
import type { ReplicaTarget } from "./target.ts";

const readAt = promisify(readFile);
const zstdLevel = 1;

/** Files stay open while the process lives: closing any descriptor of a file drops the locks of this process on it. */
const openFiles = new Map<string, number>();

export class SnapshotCopy {
  readonly #place: ReplicaTarget;
  readonly #file: number;
  readonly #parts: SnapshotHeader["parts"] = [];
  readonly id: ClaimedSegmentId;
  bytes = 0;
  isCopied = false;

  /** `id` is the last segment that is certainly in the file. */
  constructor(place: ReplicaTarget, databasePath: string, id: ClaimedSegmentId) {
    this.#place = place;
    this.id = id;
    const file = openFiles.get(databasePath) ?? openSync(databasePath, "r");
    openFiles.set(databasePath, file);
    this.#file = file;
  }

  async copyPart(): Promise<void> {
    const at = this.#parts.length * partBytes;
    const { bytesRead, buffer } = await readAt(this.#file, new Uint8Array(partBytes), 0, partBytes, at);
    this.isCopied = bytesRead < partBytes;
    if (bytesRead === 0) return;
    const part = buffer.subarray(0, bytesRead);
    const compressed = await Bun.zstdCompress(part, { level: zstdLevel });
    const name = partName(this.id, this.#parts.length + 1);
    await this.#place.put(name, compressed);
    this.#parts.push({ name, sha256: Bun.SHA256.hash(part, "hex"), bytes: bytesRead });
    this.bytes += compressed.length;
  }

  /** Makes the snapshot usable. Its copy is consistent once the segment `consistentFrom` is applied. */
  async finish(header: Pick<SnapshotHeader, "database" | "version" | "at" | "consistentFrom">): Promise<void> {
    const whole: SnapshotHeader = { format: 1, ...this.id, ...header, parts: this.#parts };
    await putObject(this.#place, snapshotName(this.id), whole);
  }
}

const batch = 10;

/** Creates a purge that removes, a few at a time, objects that no state of the last `keepMs` milliseconds needs. */
export function createPurge(place: ReplicaTarget, keepMs: number) {
  let isDue = false;
  let names: string[] = [];
  return {
    begin() {
      isDue = true;
    },
    async step(): Promise<boolean> {
      if (isDue) names = await findOld(place, keepMs);
      isDue = false;
      for (const name of names.splice(0, batch)) await place.remove(name);
      return names.length > 0;
    },
  };
}

async function findOld(place: ReplicaTarget, keepMs: number): Promise<string[]> {
  const snapshots: { id: SegmentId; name: string; header: SnapshotHeader | undefined }[] = [];
  for (const id of await listIds(place, "snapshot")) {
    const name = snapshotName(id);
    const found = await getObject<SnapshotHeader>(place, name).catch(ignoreUnverified);
    snapshots.push({ id, name, header: found?.header });
  }
  const newest = snapshots.findLast(({ header }) => header);
  if (newest === undefined) return [];
  const oldest = snapshots.findLast(({ header }) => header && Date.parse(header.at) < Date.now() - keepMs);
  const old = snapshots.filter(({ name }) => oldest && name < oldest.name);
  const kept = snapshots.slice(old.length);
  const keptParts = new Set(kept.flatMap(({ header }) => header?.parts ?? []).map(({ name }) => name));
  // Snapshots that an earlier key signed cannot be verified, so all of their parts are kept.
  const unread = new Set(kept.filter(({ header }) => header === undefined).map(({ name }) => name));
  const parts = (await place.list(prefixes.part)).filter((name) => {
    const snapshot = name.replace(prefixes.part, prefixes.snapshot).replace(/-\d+$/, "");
    return snapshot < newest.name && !keptParts.has(name) && !unread.has(snapshot);
  });
  if (oldest === undefined) return parts;
  const segments = (await listIds(place, "segment")).filter(
    ({ sequence, generation }) => sequence <= oldest.id.sequence && generation <= oldest.id.generation,
  );
  // Snapshots are removed before their segments, because a snapshot without its segments cannot be restored.
  return [...old.map(({ name }) => name), ...segments.map(segmentName), ...parts];
}
