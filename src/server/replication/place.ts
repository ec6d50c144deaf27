import { randomUUID } from "node:crypto";
import { link, mkdir, open, readdir, readFile, rename, rm, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { listObjects } from "../backup/open-storage.ts";
import { storageError } from "../backup/storage.ts";
import { backupDestination } from "../config/backup-config.ts";
import type { Config } from "../config/config.ts";
import { invalidOption } from "../config/environment.ts";
import { unavailable, validationFailed } from "../errors.ts";

/** Longest time of one call. A call that takes longer has failed. */
const defaultTimeoutMs = 30_000;
const presignSeconds = 300;

/** Where a replica is: a directory, or the objects of an S3 bucket that begin with a prefix. Errors are unavailable. */
export interface Place {
  /** As people write it. */
  address: string;
  /** Writes a whole object; it appears at once. */
  put(name: string, bytes: Uint8Array): Promise<void>;
  /** Writes an object unless there is one of this name; false where there is. */
  create(name: string, bytes: Uint8Array): Promise<boolean>;
  /** Whether there is an object of this name. */
  has(name: string): Promise<boolean>;
  /** The bytes of an object; undefined where there is none. */
  get(name: string): Promise<Uint8Array | undefined>;
  /** The names that begin with a prefix and sort behind `after`, in order. */
  list(prefix: string, after?: string): Promise<string[]>;
  remove(name: string): Promise<void>;
}

/**
 * Opens a place: an absolute directory, or `s3://bucket/prefix`.
 * @param noun what is there, in errors.
 * @throws validationFailed for an S3 address without an account.
 */
export function openPlace(
  address: string,
  { s3 }: Pick<Config, "s3">,
  timeoutMs = defaultTimeoutMs,
  noun = "replica",
): Place {
  if (!address.startsWith("s3:")) return explained(openFolder(address), timeoutMs, noun);
  if (s3 === undefined) {
    throw validationFailed("To use s3://, set BODEGA_S3_ACCESS_KEY_ID and BODEGA_S3_SECRET_ACCESS_KEY.");
  }
  return explained(openBucket(address, s3, timeoutMs), timeoutMs, noun);
}

/** The bucket of new pictures; undefined is the database. Errors: as `openPlace`. */
export function openMedia({ media, s3 }: Pick<Config, "media" | "s3">): Place | undefined {
  return media === undefined ? undefined : openPlace(media, { s3 }, defaultTimeoutMs, "pictures");
}

/**
 * Checks that a place can be written to and is not in the data directory; returns its address.
 * @throws validationFailed, or unavailable when it cannot be written.
 */
export async function requirePlace(given: string, config: Pick<Config, "s3" | "dataDir">): Promise<string> {
  const source = "--replicate-to";
  const address = backupDestination({ value: given, source }) as string;
  if (`${address}/`.startsWith(`${config.dataDir}/`)) {
    throw invalidOption(source, "must not be in the data directory, with which it would be lost");
  }
  const place = openPlace(address, config);
  const name = `test-${randomUUID()}`;
  await place.create(name, new Uint8Array());
  await place.remove(name);
  return address;
}

function openFolder(folder: string): Place {
  const write = async (name: string, bytes: Uint8Array) => {
    const partial = join(folder, `.${name}.partial`);
    const file = await open(partial, "w", 0o600);
    try {
      await file.writeFile(bytes);
      await file.sync();
    } finally {
      await file.close();
    }
    return partial;
  };
  return {
    address: folder,
    async put(name, bytes) {
      await rename(await write(name, bytes), join(folder, name));
      await syncFolder(folder);
    },
    async create(name, bytes) {
      // Only here: a directory that disappears later may be a disk that is not mounted.
      await mkdir(folder, { recursive: true, mode: 0o700 });
      const partial = await write(name, bytes);
      try {
        await link(partial, join(folder, name));
        await syncFolder(folder);
        return true;
      } catch (error) {
        if (codeOf(error) === "EEXIST") return false;
        throw error;
      } finally {
        await rm(partial, { force: true });
      }
    },
    // A folder whose network hangs must not hold up the process.
    has: (name) => stat(join(folder, name)).then(Boolean, () => false),
    get: (name) => readFile(join(folder, name)).catch((error) => absent(error, "ENOENT")),
    async list(prefix, after = "") {
      const names = (await readdir(folder).catch((error) => absent(error, "ENOENT"))) ?? [];
      return names.filter((name) => name.startsWith(prefix) && name > after).sort();
    },
    remove: (name) => rm(join(folder, name), { force: true }),
  };
}

async function syncFolder(folder: string): Promise<void> {
  const entries = await open(folder, "r").catch(() => open(dirname(folder), "r"));
  await entries.sync().finally(() => entries.close());
}

/** Uploads use signed addresses, because Bun's client can neither be interrupted nor ask for a name to be new. */
function openBucket(address: string, account: NonNullable<Config["s3"]>, timeoutMs: number): Place {
  const [, bucket = "", path = ""] = /^s3:\/\/([^/]+)\/?(.*)$/.exec(address) ?? [];
  const prefix = path === "" || path.endsWith("/") ? path : `${path}/`;
  const client = new Bun.S3Client({ ...account, bucket });
  const upload = async (name: string, bytes: Uint8Array, headers: Record<string, string>) => {
    const url = client.presign(prefix + name, { method: "PUT", expiresIn: presignSeconds });
    const body = bytes as Uint8Array<ArrayBuffer>;
    const response = await fetch(url, { method: "PUT", body, headers, signal: AbortSignal.timeout(timeoutMs) });
    if (response.ok) return true;
    // 409: another conditional upload of the same name is under way.
    if ("If-None-Match" in headers && (response.status === 412 || response.status === 409)) return false;
    const code = /<Code>(\w+)<\/Code>/.exec(await response.text())?.[1] ?? `status ${response.status}`;
    throw Object.assign(new Error(`The upload was refused (${code}).`), { code });
  };
  return {
    address,
    async put(name, bytes) {
      await upload(name, bytes, {});
    },
    create: (name, bytes) => upload(name, bytes, { "If-None-Match": "*" }),
    has: (name) => client.exists(prefix + name),
    get(name) {
      const reading = client.file(prefix + name).bytes();
      return reading.catch((error) => absent(error, "NoSuchKey"));
    },
    list: (start, after) => listObjects(client, prefix, start, after),
    remove: (name) => client.delete(prefix + name),
  };
}

function absent(error: unknown, code: string): undefined {
  if (codeOf(error) !== code) throw error;
  return undefined;
}

function codeOf(error: unknown): string {
  return String((error as { code?: unknown }).code);
}

/** Limits each call in time, and explains its errors. */
function explained(place: Place, timeoutMs: number, noun: string): Place {
  const { address } = place;
  const explain = async <T>(call: Promise<T>, what: string): Promise<T> => {
    const silence = Promise.withResolvers<never>();
    const timer = setTimeout(() => silence.reject(unavailable(`${what} ${address}: no answer.`)), timeoutMs + 1000);
    try {
      return await Promise.race([call, silence.promise]);
    } catch (error) {
      throw storageError(error, address, what);
    } finally {
      clearTimeout(timer);
    }
  };
  return {
    address,
    put: (name, bytes) => explain(place.put(name, bytes), `The ${noun} cannot be written to`),
    create: (name, bytes) => explain(place.create(name, bytes), `The ${noun} cannot be written to`),
    has: (name) => explain(place.has(name), `The ${noun} cannot be read from`),
    get: (name) => explain(place.get(name), `The ${noun} cannot be read from`),
    list: (prefix, after) => explain(place.list(prefix, after), `The ${noun} cannot be read from`),
    remove: (name) => explain(place.remove(name), `Old parts of the ${noun} cannot be removed from`),
  };
}
