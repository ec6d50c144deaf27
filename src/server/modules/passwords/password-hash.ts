import { takeHashingTurn } from "./hash-queue.ts";
import { isBcrypt, isUsableHash, ownPrefix } from "./imported-hash.ts";

/** Argon2id with 19 MiB, two passes, one lane. */
const parameters = { algorithm: "argon2id", memoryCost: 19_456, timeCost: 2 } as const;
/** The hash of a random text that nobody kept: checking against it costs what a real one costs. */
const decoy =
  "$argon2id$v=19$m=19456,t=2,p=1$ibTDQ9/6n/EHTgtHOcDCpCsqwKUOMtc++jLGLnBezp4$1Nj6HImSadN9bf0j1AwEoFmLvR6ar3IXt2B6vnHjioI";
/** More than this is not looked at by bcrypt. */
const bcryptBytes = 72;

/**
 * Hashes a new password, in turn with all others of this process.
 * @returns argon2id in the PHC form.
 * @throws unavailable when too many wait.
 */
export function hashPassword(password: string): Promise<string> {
  return takeHashingTurn(() => Bun.password.hash(password.normalize("NFC"), parameters));
}

/**
 * Whether a password has this hash. Null (no such user, no password) and a hash that nobody can use cost what a real
 * one costs, and are false.
 * @throws unavailable when too many wait.
 */
export function verifyPassword(password: string, hash: string | null): Promise<boolean> {
  return takeHashingTurn(async () => {
    // Bun refuses an empty password at once, which would tell by the time that nothing was checked.
    const isReal = hash !== null && password !== "" && isUsableHash(hash);
    if (!isReal) {
      await Bun.password.verify(password || "-", decoy);
      return false;
    }
    if (hash.startsWith(ownPrefix)) return Bun.password.verify(password.normalize("NFC"), hash);
    return isBcrypt(hash) ? verifyBcrypt(password, hash) : Bun.password.verify(password, hash);
  });
}

/** Whether a hash that was just verified should be made anew: it was imported, or made with other costs. */
export function needsRehash(hash: string): boolean {
  return !hash.startsWith(ownPrefix);
}

/** Bun hashes what is longer than bcrypt can take before it begins; other systems cut it. Either may have made this. */
async function verifyBcrypt(password: string, hash: string): Promise<boolean> {
  const bytes = new TextEncoder().encode(password);
  if (await Bun.password.verify(bytes.subarray(0, bcryptBytes), hash)) return true;
  return bytes.length > bcryptBytes && Bun.password.verify(bytes, hash);
}
