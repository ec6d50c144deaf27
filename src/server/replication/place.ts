import { randomUUID } from "node:crypto";
import { defaultTimeoutMs, openStorage } from "../backup/open-storage.ts";
import { type ObjectStorage, storageError } from "../backup/storage.ts";
import { backupDestination } from "../config/backup-config.ts";
import type { Config } from "../config/config.ts";
import { invalidOption } from "../config/environment.ts";
import { unavailable } from "../errors.ts";
import { withTimeout } from "../values/with-timeout.ts";

type Get = ObjectStorage["get"];

export interface Place extends Omit<ObjectStorage, "upload" | "head" | "read" | "get"> {
  /** `limitMs` limits the wait for a small object. @throws validationFailed for more than `maxBytes`. */
  get(name: string, limits?: { limitMs?: number | undefined; maxBytes?: number | undefined }): ReturnType<Get>;
}

/** The time limit of a call that transfers little, so that a hanging call delays the replica little. */
export const smallCallMs = 5000;
/** The slowest connection that is supported, in bytes per millisecond. */
const slowest = 64;

/** Errors of its calls are unavailable. `noun` names the content in errors. Throws as `openStorage`. */
export function openPlace(
  address: string,
  { s3 }: Pick<Config, "s3">,
  timeoutMs = defaultTimeoutMs,
  noun = "replica",
): Place {
  return explained(openStorage(address, { s3 }, timeoutMs), timeoutMs, noun);
}

/** Opens the bucket of new pictures; undefined stores them in the database. */
export function openMedia({ media, s3 }: Pick<Config, "media" | "s3">): Place | undefined {
  return media === undefined ? undefined : openPlace(media, { s3 }, defaultTimeoutMs, "pictures");
}

/** Throws validationFailed for a `--replicate-to` in the data directory. */
export function requireApart(given: string, dataDir: string): string {
  const source = "--replicate-to";
  const address = backupDestination({ value: given, source }) as string;
  if (!`${address}/`.startsWith(`${dataDir}/`)) return address;
  throw invalidOption(source, "must not be in the data directory, with which it would be lost");
}

export async function tryPlace(address: string, config: Pick<Config, "s3">): Promise<void> {
  const place = openPlace(address, config);
  const name = `test-${randomUUID()}`;
  await place.create(name, new Uint8Array());
  await place.remove(name);
}

function explained(place: ObjectStorage, timeoutMs: number, noun: string): Place {
  const { address } = place;
  const explain = <T>(call: Promise<T>, what: string, limitMs = timeoutMs + 1000): Promise<T> => {
    const silence = () => unavailable(`${what} ${address}: no answer.`);
    return withTimeout(call, Math.min(limitMs, timeoutMs + 1000), silence).catch((error) => {
      throw storageError(error, address, what);
    });
  };
  return {
    address,
    put: (name, bytes) =>
      explain(place.put(name, bytes), `The ${noun} cannot be written to`, smallCallMs + bytes.length / slowest),
    create: (name, bytes) => explain(place.create(name, bytes), `The ${noun} cannot be written to`),
    has: (name) => explain(place.has(name), `The ${noun} cannot be read from`, smallCallMs),
    get: (name, { limitMs, maxBytes } = {}) =>
      explain(place.get(name, maxBytes), `The ${noun} cannot be read from`, limitMs),
    list: (prefix, after) => explain(place.list(prefix, after), `The ${noun} cannot be read from`),
    remove: (name) => explain(place.remove(name), `Old parts of the ${noun} cannot be removed from`),
  };
}
