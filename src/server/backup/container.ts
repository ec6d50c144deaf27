import { createHash } from "node:crypto";
import { createReadStream, createWriteStream } from "node:fs";
import { Readable, Transform, type Writable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createGunzip, createGzip, constants as zlib } from "node:zlib";
import { AppError } from "../errors.ts";
import { type Manifest, parseManifest } from "./manifest.ts";
import { unsound } from "./restore/unsound.ts";

/** Its parts, in this order; the last one only where it was asked for. */
const parts = { manifest: "manifest.json", database: "bodega.db", key: "secret.key" } as const;
const maxManifestBytes = 1 << 20;
const maxKeyBytes = 4096;
/** Fast rather than small: pages of SQLite shrink to a third or less at any level. */
const gzipLevel = 1;

/** What goes into a container. */
export interface ContainerContent {
  manifest: Manifest;
  databasePath: string;
  key: string | undefined;
}

/** What came out of one. */
export interface Unpacked {
  manifest: Manifest;
  key: string | undefined;
}

/**
 * Writes a container: a compressed tar archive that `tar xzf` reads, the manifest first.
 * @param onBytes is told how much of the database has been read.
 */
export async function packContainer(
  { manifest, databasePath, key }: ContainerContent,
  sink: Writable,
  { onBytes, signal }: { onBytes: (bytes: number) => void; signal: AbortSignal },
): Promise<void> {
  const { pack } = await import("tar-stream");
  const archive = pack();
  const mtime = new Date(manifest.created_at);
  const feed = async () => {
    archive.entry({ name: parts.manifest, mode: 0o600, mtime }, `${JSON.stringify(manifest, null, 2)}\n`);
    const { bytes: size } = manifest.database;
    const entry = archive.entry({ name: parts.database, mode: 0o600, mtime, size });
    await pipeline(createReadStream(databasePath), countBytes(onBytes), entry, { signal });
    if (key !== undefined) archive.entry({ name: parts.key, mode: 0o600, mtime }, `${key}\n`);
    archive.finalize();
  };
  const abandon = (error: unknown) => {
    archive.destroy(error as Error);
    throw error;
  };
  // Whichever side fails first, its error is the one that counts.
  await firstFailure([feed().catch(abandon), pipeline(archive, createGzip({ level: gzipLevel }), sink, { signal })]);
}

/**
 * Reads a container, and puts its database into a file.
 * @param source the container's bytes, of whatever origin.
 * @throws validationFailed when it is cut short, altered, of another program or a newer format.
 */
export async function unpackContainer(
  source: Readable,
  databasePath: string,
  { onBytes, signal }: { onBytes: (bytes: number) => void; signal: AbortSignal },
): Promise<Unpacked> {
  const { extract } = await import("tar-stream");
  const archive = extract();
  let manifest: Manifest | undefined;
  let hash: string | undefined;
  let key: string | undefined;
  const take = async () => {
    for await (const entry of archive) {
      const { name, size = 0, type } = entry.header;
      if (type !== "file") throw damaged(`it holds ${JSON.stringify(name)}, which is no file`);
      if (manifest === undefined) {
        if (name !== parts.manifest) throw damaged("it does not begin with a manifest");
        manifest = parseManifest(await readText(entry, size, maxManifestBytes));
      } else if (name === parts.database && hash === undefined) {
        if (size !== manifest.database.bytes) throw damaged("its database has another size than its manifest says");
        const hasher = createHash("sha256");
        const note = new Transform({
          transform(chunk, _encoding, done) {
            hasher.update(chunk);
            done(null, chunk);
          },
        });
        await pipeline(entry, note, createWriteStream(databasePath, { flags: "wx", mode: 0o600 }), { signal });
        hash = hasher.digest("hex");
      } else if (name === parts.key && hash !== undefined && key === undefined) {
        key = (await readText(entry, size, maxKeyBytes)).trim();
      } else throw damaged(`it holds ${JSON.stringify(name)}, which belongs to no backup`);
    }
  };
  const abandon = (error: unknown) => {
    archive.destroy(error as Error);
    throw error;
  };
  await firstFailure([
    take().catch(abandon),
    pipeline(source, countBytes(onBytes), createGunzip(), archive, { signal }),
  ]).catch((error) => {
    throw explainUnpacking(error);
  });
  if (manifest === undefined || hash === undefined) throw damaged("it ends too soon");
  if (hash !== manifest.database.sha256) throw damaged("its database has another checksum than its manifest says");
  return { manifest, key };
}

/** The manifest of a container of which only the beginning is at hand; undefined where there is none. */
export async function peekManifest(beginning: Uint8Array): Promise<Manifest | undefined> {
  const { extract } = await import("tar-stream");
  const archive = extract();
  // What follows the manifest is cut off, which is no fault here.
  const unzip = createGunzip({ finishFlush: zlib.Z_SYNC_FLUSH });
  const piping = pipeline(Readable.from([beginning]), unzip, archive).catch(() => {});
  try {
    for await (const entry of archive) {
      if (entry.header.name !== parts.manifest) return undefined;
      return parseManifest(await readText(entry, entry.header.size ?? 0, maxManifestBytes));
    }
  } catch {
    return undefined;
  } finally {
    archive.destroy();
    await piping;
  }
  return undefined;
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

async function readText(entry: AsyncIterable<unknown>, size: number, most: number): Promise<string> {
  if (size > most) throw damaged("one of its parts is too large");
  const chunks: Buffer[] = [];
  for await (const chunk of entry) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString("utf8");
}

/** Waits for both, so that nothing is left running, and throws what failed first. */
async function firstFailure(work: Promise<unknown>[]): Promise<void> {
  let failed: { error: unknown } | undefined;
  await Promise.all(
    work.map((one) =>
      one.catch((error) => {
        failed ??= { error };
      }),
    ),
  );
  if (failed) throw failed.error;
}

function explainUnpacking(error: unknown): unknown {
  if (error instanceof AppError) return error;
  const { code = "", message = "" } = error as NodeJS.ErrnoException;
  if (/^Z_|^ERR_STREAM_PREMATURE|^ERR_ZLIB/.test(code)) return damaged("it is cut short or altered");
  if (/unexpected end|invalid tar header|unknown format|incorrect header|premature/i.test(message)) {
    return damaged("it is cut short or altered");
  }
  return error;
}

function damaged(why: string): AppError {
  return unsound(`The file is no backup of Bodega's, or a damaged one: ${why}.`);
}
