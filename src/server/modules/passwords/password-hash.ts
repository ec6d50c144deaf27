import { availableParallelism } from "node:os";
import { Semaphore } from "../../values/semaphore.ts";
import { isBcrypt, isUsableHash, ownPrefix } from "./imported-hash.ts";

/** Argon2id with 19 MiB, two passes, one lane. */
const parameters = { algorithm: "argon2id", memoryCost: 19_456, timeCost: 2 } as const;
/** The hash of a random text that was thrown away: verifying it costs as much as a real hash. */
const decoy =
  "$argon2id$v=19$m=19456,t=2,p=1$ibTDQ9/6n/EHTgtHOcDCpCsqwKUOMtc++jLGLnBezp4$1Nj6HImSadN9bf0j1AwEoFmLvR6ar3IXt2B6vnHjioI";
/** bcrypt ignores all bytes after these. */
const bcryptBytes = 72;

/** Bun's pool takes any number of hashes, and everything else that it does would wait behind all of them. */
export const hashing = new Semaphore({
  permits: availableParallelism(),
  maxWaiting: 128,
  fullMessage: "Too many passwords are being checked.",
});

/** Gives this process its share of the cores for hashing, as one of several. */
export function shareCores(processes: number): void {
  hashing.configure({ permits: Math.max(1, Math.floor(availableParallelism() / processes)) });
}

/**
 * Hashes a new password once this process has a core free for it.
 * @returns argon2id in the PHC form.
 * @throws unavailable when too many wait.
 */
export function hashPassword(password: string): Promise<string> {
  return hashing.run(() => Bun.password.hash(password.normalize("NFC"), parameters));
}

/**
 * Whether a password has this hash. False for null (no such user, no password) and for an unusable hash, after as much
 * time as for a real one.
 * @throws unavailable when too many wait.
 */
export function verifyPassword(password: string, hash: string | null): Promise<boolean> {
  return hashing.run(async () => {
    // Bun refuses an empty password at once, and the response time would reveal that nothing was verified.
    const isReal = hash !== null && password !== "" && isUsableHash(hash);
    if (!isReal) {
      await Bun.password.verify(password || "-", decoy);
      return false;
    }
    if (hash.startsWith(ownPrefix)) return Bun.password.verify(password.normalize("NFC"), hash);
    return isBcrypt(hash) ? verifyBcrypt(password, hash) : Bun.password.verify(password, hash);
  });
}

/** Whether to hash the password again after a sign-in: its hash was imported, or has other costs. */
export function needsRehash(hash: string): boolean {
  return !hash.startsWith(ownPrefix);
}

/** For longer passwords, Bun hashes the password before bcrypt and other systems cut it. Either may have made this hash. */
async function verifyBcrypt(password: string, hash: string): Promise<boolean> {
  const bytes = new TextEncoder().encode(password);
  if (await Bun.password.verify(bytes.subarray(0, bcryptBytes), hash)) return true;
  return bytes.length > bcryptBytes && Bun.password.verify(bytes, hash);
}
