const { hash, verify } = Bun.password;
const results = new Map<string, Promise<unknown>>();

/** The function with a memory: the same call later has the result of the first one, in a later turn. */
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

/** The functions of Bun, for tests of the hashing itself. */
export const realHashing = { hash, verify };
/** A hash takes 30 ms of a core, and thousands of tests sign the same few people in. */
export const cachedHashing = { hash: cached("hash", hash), verify: cached("verify", verify) };
Object.assign(Bun.password, cachedHashing);
