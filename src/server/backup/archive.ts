import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { open } from "node:fs/promises";
import { Readable, Transform, type Writable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createGunzip, createGzip, constants as zlib } from "node:zlib";
import type { Extract } from "tar-stream";
import { AppError, errnoOf } from "../errors.ts";
import { damagedBackup, type Manifest, parseManifest } from "./manifest.ts";

/** The files of an archive, in this order. */
const files = { manifest: "manifest.json", database: "bodega.db" } as const;
const order: readonly string[] = Object.values(files);
const maxManifestBytes = 1 << 20;
/** The fastest level. At any level, SQLite pages shrink to a third or less. */
const gzipLevel = 1;

interface Progress {
  onBytes: (bytes: number) => void;
  signal: AbortSignal;
}

/** Writes a gzipped tar archive with the manifest first. */
export async function packArchive(
  { manifest, databasePath }: { manifest: Manifest; databasePath: string },
  sink: Writable,
  { onBytes, signal }: Progress,
): Promise<void> {
  const { pack } = await import("tar-stream");
  const archive = pack();
  const mtime = new Date(manifest.created_at);
  const feed = async () => {
    archive.entry({ name: files.manifest, mode: 0o600, mtime }, `${JSON.stringify(manifest, null, 2)}\n`);
    const entry = archive.entry({ name: files.database, mode: 0o600, mtime, size: manifest.database.bytes });
    await pipeline(createReadStream(databasePath), countBytes(onBytes), entry, { signal });
    archive.finalize();
  };
  await both(archive, feed(), pipeline(archive, createGzip({ level: gzipLevel }), sink, { signal }));
}

/**
 * Reads an archive, and writes its database to a file.
 * @throws validationFailed when it is truncated, altered, of another program or of a newer format.
 */
export async function unpackArchive(
  source: Readable,
  databasePath: string,
  { onBytes, signal }: Progress,
): Promise<Manifest> {
  const { extract } = await import("tar-stream");
  const archive = extract();
  const read = readEntries(archive, databasePath);
  const unzipped = pipeline(source, countBytes(onBytes), createGunzip(), archive, { signal });
  await both(archive, read, unzipped).catch((error) => {
    throw explainUnpacking(error);
  });
  const { manifest, hash } = await read;
  if (manifest === undefined || hash === undefined) throw damagedBackup("it ends too soon");
  if (hash !== manifest.database.sha256) throw damagedBackup("the checksum of its database differs from its manifest");
  return manifest;
}

async function readEntries(archive: Extract, databasePath: string) {
  let manifest: Manifest | undefined;
  let hash: string | undefined;
  let count = 0;
  for await (const entry of archive) {
    const { name, size = 0 } = entry.header;
    if (name !== order[count++]) {
      const unexpected = `it contains the unexpected file ${JSON.stringify(name)}`;
      throw damagedBackup(manifest === undefined ? "it does not begin with a manifest" : unexpected);
    }
    if (name === files.manifest) manifest = parseManifest(await readText(entry, size));
    else hash = await writeHashed(entry, databasePath);
  }
  return { manifest, hash };
}

async function writeHashed(entry: AsyncIterable<unknown>, path: string): Promise<string> {
  const hasher = createHash("sha256");
  await using target = await open(path, "wx", 0o600);
  for await (const chunk of entry as AsyncIterable<Buffer>) {
    hasher.update(chunk);
    await target.writeFile(chunk);
  }
  return hasher.digest("hex");
}

/** Reads the manifest from the first bytes of an archive. Returns undefined when they contain none. */
export async function peekManifest(beginning: Uint8Array): Promise<Manifest | undefined> {
  const { extract } = await import("tar-stream");
  const archive = extract();
  // `beginning` lacks the rest of the archive. With this option, the missing rest is no error.
  const unzip = createGunzip({ finishFlush: zlib.Z_SYNC_FLUSH });
  const piping = pipeline(Readable.from([beginning]), unzip, archive).catch(() => {});
  try {
    const { value: entry } = await archive[Symbol.asyncIterator]().next();
    if (entry?.header.name !== files.manifest) return undefined;
    return parseManifest(await readText(entry, entry.header.size ?? 0));
  } catch {
    return undefined;
  } finally {
    archive.destroy();
    await piping;
  }
}

function countBytes(onBytes: (bytes: number) => void): Transform {
  let bytes = 0;
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      bytes += chunk.length;
      onBytes(bytes);
      done(null, chunk);
    },
  });
}

async function readText(entry: AsyncIterable<unknown>, size: number): Promise<string> {
  if (size > maxManifestBytes) throw damagedBackup("one of its files is too large");
  return Buffer.concat(await Array.fromAsync(entry as AsyncIterable<Buffer>)).toString("utf8");
}

/** Waits for both. If both fail, one of them may only report that its stream ended early. Throws the other's error. */
async function both(archive: { destroy(error: Error): void }, inner: Promise<unknown>, outer: Promise<void>) {
  const work = inner.catch((error) => {
    archive.destroy(error);
    throw error;
  });
  const results = await Promise.allSettled([work, outer]);
  const errors = results.flatMap((result) => (result.status === "rejected" ? [result.reason as Error] : []));
  if (errors.length > 0) throw errors.find((error) => !endedTooSoon(error)) ?? errors[0];
}

function endedTooSoon({ code = "", message }: NodeJS.ErrnoException): boolean {
  return /premature|destroyed/i.test(`${code} ${message}`);
}

// Damage causes errors of gzip or streams with these codes, and errors of tar-stream without a code.
function explainUnpacking(error: unknown): unknown {
  const isOfArchive = !(error instanceof AppError) && /^(?:Z_|ERR_ZLIB|ERR_STREAM|unknown$)/.test(errnoOf(error));
  return isOfArchive ? damagedBackup("it is truncated or altered") : error;
}
