import { Readable, Transform } from "node:stream";
import { withSignal, withTimeout } from "../concurrency/with-timeout.ts";
import type { Config } from "../config/config.ts";
import { unavailable, validationFailed } from "../errors.ts";
import { headBytes, openFolder } from "./folder-storage.ts";
import { absent, type BackupUpload, type ObjectStorage, storageError } from "./storage.ts";

const defaultTimeoutMs = 30_000;
const presignSeconds = 300;
/** S3 allows 10,000 parts per object, so an archive can have 156 GiB. */
const partBytes = 16 * 1024 * 1024;
/** How long to wait for Bun, which aborts a multipart upload in the background without reporting the end. */
const abortMs = 1000;

/** Opens a place for backups. Files in `dataDir` get its owner. Throws validationFailed for S3 without an account. */
export function openStorage(
  address: string,
  { s3, dataDir }: Pick<Config, "s3"> & { dataDir?: string },
  timeoutMs = defaultTimeoutMs,
): ObjectStorage {
  if (!address.startsWith("s3:")) return openFolder(address, dataDir);
  if (s3 !== undefined) return openBucket(address, s3, timeoutMs);
  throw validationFailed("To use s3://, set BODEGA_S3_ACCESS_KEY_ID and BODEGA_S3_SECRET_ACCESS_KEY.");
}

function openBucket(address: string, account: NonNullable<Config["s3"]>, timeoutMs: number): ObjectStorage {
  const [, bucket = "", path = ""] = /^s3:\/\/([^/]+)\/?(.*)$/.exec(address) ?? [];
  const prefix = path === "" ? "" : path.replace(/\/*$/, "/");
  const client = new Bun.S3Client({ ...account, bucket });
  const fileOf = (name: string) => client.file(prefix + name);
  const answer = <T>(call: Promise<T>) =>
    withTimeout(call, timeoutMs, () => unavailable(`${address} did not answer within ${timeoutMs / 1000} s.`));
  // Bun's S3 client cannot abort a call, and always overwrites. So requests are sent to signed URLs instead.
  const put = async (name: string, bytes: Uint8Array, headers: Record<string, string>) => {
    const url = client.presign(prefix + name, { method: "PUT", expiresIn: presignSeconds });
    const body = bytes as Uint8Array<ArrayBuffer>;
    const response = await fetch(url, { method: "PUT", body, headers, signal: AbortSignal.timeout(timeoutMs) });
    if (response.ok) return true;
    // 409: another conditional upload of this name is running.
    if ("If-None-Match" in headers && (response.status === 412 || response.status === 409)) return false;
    throw await refusal(response);
  };
  return {
    async put(name, bytes) {
      await put(name, bytes, {});
    },
    create: (name, bytes) => put(name, bytes, { "If-None-Match": "*" }),
    async upload(name, _id, signal) {
      // This call finds most errors before the database is copied. A missing permission to list is no error.
      await answer(client.list({ prefix, maxKeys: 1 })).catch((error) => absent(error, "AccessDenied"));
      return upload(client, `${prefix}${name}`, signal);
    },
    has: (name) => client.exists(prefix + name),
    async get(name, checkSize) {
      const url = client.presign(prefix + name, { expiresIn: presignSeconds });
      // The body is not decompressed, because it could then be larger than `checkSize` allows.
      const response = await fetch(url, { decompress: false, signal: AbortSignal.timeout(timeoutMs) });
      if (!response.ok) return absent(await refusal(response), "NoSuchKey");
      checkSize?.(Number(response.headers.get("content-length")));
      return response.bytes();
    },
    head: (name) => fileOf(name).slice(0, headBytes).bytes(),
    async read(name) {
      const file = fileOf(name);
      const { size } = await answer(file.stat());
      return { bytes: size, stream: Readable.fromWeb(file.stream() as never) };
    },
    list: (start, after) => listObjects(client, prefix, start, after),
    remove: (name) => client.delete(prefix + name),
  };
}

async function refusal(response: Response): Promise<Error> {
  const code = /<Code>(\w+)<\/Code>/.exec(await response.text())?.[1] ?? `status ${response.status}`;
  return Object.assign(new Error(`S3 refused the call (${code}).`), { code });
}

async function listObjects(client: Bun.S3Client, prefix: string, start: string, after = ""): Promise<string[]> {
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
  const sink = new Transform({
    highWaterMark: 1 << 20,
    // The chunk is copied, because the pipeline reuses its buffer while the upload still needs it.
    transform: (chunk: Buffer, _encoding, done) => done(null, Buffer.from(chunk)),
  });
  // If the stream is destroyed, no object is created. Bun's own writer would create an incomplete object.
  const uploaded = client.write(key, new Response(Readable.toWeb(sink) as never), {
    partSize: partBytes,
    queueSize: 2,
    retry: 3,
    type: "application/gzip",
  });
  uploaded.catch((error) => sink.destroy(error));
  return {
    sink,
    finish: () => withSignal(uploaded, signal),
    async discard() {
      sink.destroy(new Error("The backup was cancelled."));
      // If Bun has already sent the request that completes the upload, S3 creates the object. It is deleted here.
      const removed = uploaded.then(() => client.delete(key)).catch(() => {});
      await Promise.race([removed, Bun.sleep(abortMs)]);
      await Bun.sleep(abortMs);
    },
  };
}

export interface BoundedStorage extends Omit<ObjectStorage, "upload" | "head" | "read" | "get"> {
  address: string;
  get(
    name: string,
    options?: { limitMs?: number | undefined; checkSize?: (bytes: number) => void },
  ): ReturnType<ObjectStorage["get"]>;
}

export const smallCallMs = 5000;
/** The slowest connection that is supported, in bytes per millisecond. */
const slowest = 64;

/**
 * Opens storage whose calls end within a time limit. Errors of a disk or of S3 are mapped to unavailable.
 * @param noun names the content in errors.
 */
export function openBoundedStorage(
  address: string,
  { s3 }: Pick<Config, "s3">,
  noun: string,
  timeoutMs = defaultTimeoutMs,
): BoundedStorage {
  const storage = openStorage(address, { s3 }, timeoutMs);
  const explain = <T>(call: Promise<T>, what: string, limitMs = timeoutMs + 1000): Promise<T> => {
    const silence = () => unavailable(`${what} ${address}: no answer.`);
    return withTimeout(call, Math.min(limitMs, timeoutMs + 1000), silence).catch((error) => {
      throw storageError(error, address, what);
    });
  };
  const [unwritable, unreadable] = [`The ${noun} cannot be written to`, `The ${noun} cannot be read from`];
  return {
    address,
    put: (name, bytes) => explain(storage.put(name, bytes), unwritable, smallCallMs + bytes.length / slowest),
    create: (name, bytes) => explain(storage.create(name, bytes), unwritable),
    has: (name) => explain(storage.has(name), unreadable, smallCallMs),
    get: (name, { limitMs, checkSize } = {}) => explain(storage.get(name, checkSize), unreadable, limitMs),
    list: (prefix, after) => explain(storage.list(prefix, after), unreadable),
    remove: (name) => explain(storage.remove(name), `Old parts of the ${noun} cannot be removed from`),
  };
}
