import { withTimeout } from "../concurrency/with-timeout.ts";
import type { Config } from "../config/config.ts";
import { unavailable } from "../errors.ts";
import { defaultTimeoutMs, openStorage } from "./open-storage.ts";
import { type ObjectStorage, storageError } from "./storage.ts";

export interface BoundedStorage extends Omit<ObjectStorage, "upload" | "head" | "read" | "get"> {
  /** `limitMs` limits the wait for a small object. */
  get(
    name: string,
    options?: { limitMs?: number | undefined; checkSize?: (bytes: number) => void },
  ): ReturnType<ObjectStorage["get"]>;
}

/** The time limit of a call that transfers little. */
export const smallCallMs = 5000;
/** The slowest connection that is supported, in bytes per millisecond. */
const slowest = 64;

/**
 * Opens storage whose calls end within a time limit; their errors are unavailable.
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
    address: storage.address,
    put: (name, bytes) => explain(storage.put(name, bytes), unwritable, smallCallMs + bytes.length / slowest),
    create: (name, bytes) => explain(storage.create(name, bytes), unwritable),
    has: (name) => explain(storage.has(name), unreadable, smallCallMs),
    get: (name, { limitMs, checkSize } = {}) => explain(storage.get(name, checkSize), unreadable, limitMs),
    list: (prefix, after) => explain(storage.list(prefix, after), unreadable),
    remove: (name) => explain(storage.remove(name), `Old parts of the ${noun} cannot be removed from`),
  };
}
