import { availableParallelism } from "node:os";
import { Semaphore } from "../../concurrency/semaphore.ts";
import { invalidField, invalidLogin } from "../../errors.ts";

const parameters = { algorithm: "argon2id", memoryCost: 19_456, timeCost: 2 } as const;
/** bcrypt reads only this many bytes of a password. We cut longer passwords, because Bun would hash them instead. */
const bcryptBytes = 72;

/** Limits concurrent hashes, because they delay other work in Bun's thread pool. Stores take turns. */
export const hashing = new Semaphore({
  permits: availableParallelism(),
  maxWaiting: 128,
  // After this time, the client no longer waits for the reply.
  maxWaitMs: 10_000,
  fullMessage: "Too many passwords are being checked.",
});

/** Limits hashing to this process's share of the cores. `processes` is the number of the server's processes. */
export function shareCores(processes: number): void {
  hashing.limits.permits = Math.max(1, Math.floor(availableParallelism() / processes));
}

/** Hashes a password. `party` is the store: stores take turns. Errors: unavailable. */
export function hashPassword(password: string, party?: string): Promise<string> {
  return hashing.run(() => Bun.password.hash(password.normalize("NFC"), parameters), party);
}

/**
 * Verifies a password. If the hash is null or unusable, verifies a dummy hash and returns false.
 * @throws unavailable; invalidLogin for a malformed hash, with a cause that names the user.
 */
export function verifyPassword(password: string, hash: string | null, party?: string, userId?: string) {
  return hashing.run(async () => {
    // Bun refuses an empty password at once, so the time would reveal that nothing was verified.
    const isReal = hash !== null && password !== "" && isUsableHash(hash);
    if (!isReal) {
      await Bun.password.verify(password || "-", decoy);
      return false;
    }
    const bytes = new TextEncoder().encode(hash.startsWith(ownPrefix) ? password.normalize("NFC") : password);
    const compared = bcrypt.test(hash) ? bytes.subarray(0, bcryptBytes) : bytes;
    return Bun.password.verify(compared, hash).catch((cause) => {
      const message = `The password hash of ${userId} is malformed; the user needs a new password`;
      throw invalidLogin(undefined, { cause: new Error(message, { cause }) });
    });
  }, party);
}

/** Returns whether the password must be hashed again at the next sign-in: its hash was imported or has other costs. */
export function needsRehash(hash: string): boolean {
  return !hash.startsWith(ownPrefix);
}

const ownPrefix = "$argon2id$v=19$m=19456,t=2,p=1$";
const decoy = `${ownPrefix}ibTDQ9/6n/EHTgtHOcDCpCsqwKUOMtc++jLGLnBezp4$1Nj6HImSadN9bf0j1AwEoFmLvR6ar3IXt2B6vnHjioI`;

const bcrypt = /^\$2[aby]\$(\d\d)\$[./A-Za-z0-9]{53}$/;
const argon2 =
  /^\$argon2(?:id|i|d)\$v=19\$m=(\d{1,7}),t=(\d{1,2}),p=(\d)\$([A-Za-z0-9+/]{11,86})\$([A-Za-z0-9+/]{22,86})$/;

// Limits the cost of imported hashes, because anyone can make the server verify them. At these limits, an argon2 hash
// takes as long as five of our own, and a bcrypt hash as long as ten.
const maxMemoryKib = 65_536;
const maxKib = 3 * maxMemoryKib;
const maxBcryptCost = 12;
const maxLanes = 8;

/** Returns a hash from another system if form and cost are allowed. Errors: validationFailed, without the hash. */
export function parsePasswordHash(field: string, hash: string): string {
  if (!bcrypt.test(hash) && !argon2.test(hash)) {
    throw invalidField(field, "must be a bcrypt hash ($2a$, $2b$, $2y$) or an argon2 hash in the PHC form (v=19)");
  }
  if (!isUsableHash(hash)) {
    throw invalidField(field, "has a cost outside the limits: bcrypt 4 to 12, argon2 up to 64 MiB × 3 passes");
  }
  return hash;
}

export function isUsableHash(hash: string): boolean {
  const cost = bcrypt.exec(hash)?.[1];
  if (cost !== undefined) return Number(cost) >= 4 && Number(cost) <= maxBcryptCost;
  const [, memory, passes, lanes] = (argon2.exec(hash) ?? []).map(Number);
  if (memory === undefined || passes === undefined || lanes === undefined) return false;
  if (lanes < 1 || lanes > maxLanes || passes < 1 || memory * passes > maxKib) return false;
  return memory >= 8 * lanes && memory <= maxMemoryKib;
}
