import type { CredentialLookup, ResolvedCredentials } from "../modules/app-keys/lookup.ts";

/**
 * Answers a read. With a database server, it first uses the cached store and key, and checks them in the round trip
 * that reads the data. If the store or key has changed, the read is answered again.
 */
export async function readWithCredentials<T>(
  lookup: CredentialLookup,
  answer: (find: CredentialLookup["find"]) => Promise<T>,
): Promise<T> {
  let used: ResolvedCredentials | undefined;
  let reading: Promise<ResolvedCredentials> | undefined;
  const answered = await answer((namespace, appId) => {
    used = lookup.cached?.(namespace, appId);
    const known = lookup.find(namespace, appId);
    if (used === undefined || !(known instanceof Promise)) return known;
    reading = known;
    known.catch(() => {});
    return used;
  });
  if (reading === undefined) return answered;
  const read = reading;
  const isCurrent = await read.then(
    ({ stored }) => stored === used?.stored,
    () => false,
  );
  // The second answer uses the credentials just read. If they could not be read, it is the error reply.
  return isCurrent ? answered : answer(() => read);
}
