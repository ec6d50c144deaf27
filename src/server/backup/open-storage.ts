import { Readable, Writable } from "node:stream";
import type { Config } from "../config/config.ts";
import { validationFailed } from "../errors.ts";
import { withSignal } from "../values/with-timeout.ts";
import { headBytes, openFolder } from "./folder-storage.ts";
import { type BackupLocation, isBackupName } from "./location.ts";
import type { BackupStorage, BackupUpload } from "./storage.ts";

type S3Location = Extract<BackupLocation, { kind: "s3" }>;

/** S3 allows 10,000 parts per object, so an archive can have 156 GiB. */
const partBytes = 16 * 1024 * 1024;
/** Bun aborts a multipart upload in the background and does not report when it has finished, so we wait this long. */
const abortMs = 1000;
/**
 * Opens the storage of a location.
 * @param config `dataDir` is set where backups are made: files within it get its owner, even if root makes the backup.
 * @throws validationFailed for an S3 location without an account.
 */
export function openStorage(
  location: Exclude<BackupLocation, { kind: "stdout" }>,
  { s3, dataDir }: Pick<Config, "s3"> & { dataDir?: string },
): BackupStorage {
  if (location.kind === "folder") return openFolder(location.path, dataDir);
  if (s3 !== undefined) return openS3(location, s3);
  throw validationFailed("To use s3://, set BODEGA_S3_ACCESS_KEY_ID and BODEGA_S3_SECRET_ACCESS_KEY.");
}

/** Stores backups as objects of a bucket. Larger ones are uploaded in parts; an object appears when it is complete. */
function openS3({ bucket, prefix }: S3Location, account: NonNullable<Config["s3"]>): BackupStorage {
  const client = new Bun.S3Client({ ...account, bucket });
  return {
    async create(name, _id, signal) {
      // Called before the database is copied: most errors appear with every call. Permission to write alone is enough.
      await client.list({ prefix, maxKeys: 1 }).catch((error) => {
        if (error.code !== "AccessDenied") throw error;
      });
      return upload(client, `${prefix}${name}`, signal);
    },
    list: async () => (await listObjects(client, prefix)).filter(isBackupName).sort(),
    head: (name) => client.file(`${prefix}${name}`).slice(0, headBytes).bytes(),
    async read(name) {
      const file = client.file(`${prefix}${name}`);
      const { size } = await file.stat();
      return { bytes: size, stream: Readable.fromWeb(file.stream() as never) };
    },
    remove: (name) => client.delete(`${prefix}${name}`),
  };
}

/** The names behind a prefix of a bucket that begin with `start` and sort behind `after`, in order. */
export async function listObjects(client: Bun.S3Client, prefix: string, start = "", after = ""): Promise<string[]> {
  const names: string[] = [];
  for (let startAfter = after && prefix + after; ; ) {
    const page = await client.list({ prefix: prefix + start, ...(startAfter && { startAfter }) });
    const keys = (page.contents ?? []).map(({ key }) => key);
    for (const key of keys) names.push(key.slice(prefix.length));
    startAfter = keys.at(-1) ?? "";
    if (!page.isTruncated || startAfter === "") return names;
  }
}

function upload(client: Bun.S3Client, key: string, signal: AbortSignal): BackupUpload {
  // An aborted stream ends the upload without an object; Bun's own writer would make one of what it has.
  const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
  const uploaded = client.write(key, new Response(readable), {
    partSize: partBytes,
    queueSize: 2,
    retry: 3,
    type: "application/gzip",
  });
  const failed = uploaded.then(() => new Promise<never>(() => {}));
  failed.catch(() => {});
  const writer = writable.getWriter();
  const sink = new Writable({
    highWaterMark: 1 << 20,
    write(chunk: Buffer, _encoding, done) {
      // A copy, because the pipeline reuses its buffer while the upload still holds it.
      const written = writer.ready.then(() => writer.write(new Uint8Array(chunk)));
      Promise.race([written, failed]).then(() => done(), done);
    },
    final(done) {
      Promise.race([writer.close(), failed]).then(() => done(), done);
    },
  });
  return {
    sink,
    finish: () => withSignal(uploaded, signal),
    async discard() {
      sink.destroy();
      void writer.abort(new Error("The backup was cancelled.")).catch(() => {});
      // If the last call was already under way, the upload leaves a complete object.
      const removed = uploaded.then(() => client.delete(key)).catch(() => {});
      await Promise.race([removed, Bun.sleep(abortMs)]);
      await Bun.sleep(abortMs);
    },
  };
}
