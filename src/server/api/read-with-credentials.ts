import type { CredentialLookup, Known } from "../modules/app-keys/lookup.ts";

/**
 * With a database server the cached store and key are used, and read again together with the data. If they have
 * changed, the request is answered again.
 */
export async function readWithCredentials<T>(
  lookup: CredentialLookup,
  answer: (find: CredentialLookup["find"]) => Promise<T>,
): Promise<T> {
  let used: Known | undefined;
  let current: Promise<Known | undefined> | undefined;
  const answered = await answer((namespace, appId) => {
    used = lookup.cached?.(namespace, appId);
    const known = lookup.find(namespace, appId);
    if (used === undefined || !(known instanceof Promise)) return known;
    current = known.catch(() => undefined);
    return used;
  });
  if (current === undefined || (await current)?.stored === used?.stored) return answered;
  return answer(lookup.find);
}
