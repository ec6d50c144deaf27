const { hash, verify } = Bun.password;
const results = new Map<string, Promise<unknown>>();

/** Returns a function that caches results: a repeated call returns the first result in a later turn of the loop. */
function cached<Args extends unknown[], T>(name: string, work: (...args: Args) => Promise<T>) {
  return async (...args: Args): Promise<T> => {
    const key = JSON.stringify([name, ...args]);
    const known = results.get(key) as Promise<T> | undefined;
    if (known) await Bun.sleep(0);
    const result = known ?? work(...args);
    results.set(key, result);
    return result;
  };
}

/** Bun's own functions, for tests of hashing itself. */
export const realHashing = { hash, verify };
/**
 * The same functions with a cache, because a hash takes 30 ms of a core, and thousands of tests use the same few
 * passwords.
 */
export const cachedHashing = { hash: cached("hash", hash), verify: cached("verify", verify) };
Object.assign(Bun.password, cachedHashing);
