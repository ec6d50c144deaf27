import { invalidField } from "../../errors.ts";

/** The beginning of each hash that this program makes. */
export const ownPrefix = "$argon2id$v=19$m=19456,t=2,p=1$";

const bcrypt = /^\$2[aby]\$(\d\d)\$[./A-Za-z0-9]{53}$/;
const argon2 =
  /^\$argon2(?:id|i|d)\$v=19\$m=(\d{1,7}),t=(\d{1,2}),p=(\d)\$([A-Za-z0-9+/]{11,86})\$([A-Za-z0-9+/]{22,86})$/;

// Each takes about a second of one core: higher costs would stall the server at every sign-in.
const maxBcryptCost = 14;
const maxMemoryKib = 262_144;
const maxPasses = 10;
const maxLanes = 8;

/**
 * Checks form and cost of a hash that another system made.
 * @throws validationFailed naming the field; the message never contains the hash.
 */
export function parsePasswordHash(field: string, hash: string): string {
  if (!isBcrypt(hash) && !argon2.test(hash)) {
    throw invalidField(field, "must be a bcrypt hash ($2a$, $2b$, $2y$) or an argon2 hash in the PHC form (v=19)");
  }
  if (!isUsableHash(hash)) throw invalidField(field, "costs too much or too little to be checked");
  return hash;
}

/** Whether a text has the form of a bcrypt hash. */
export function isBcrypt(hash: string): boolean {
  return bcrypt.test(hash);
}

/** Whether a hash has a form that can be checked, at a cost within bounds. */
export function isUsableHash(hash: string): boolean {
  const cost = bcrypt.exec(hash)?.[1];
  if (cost !== undefined) return Number(cost) >= 4 && Number(cost) <= maxBcryptCost;
  const [, memory, passes, lanes] = (argon2.exec(hash) ?? []).map(Number);
  if (memory === undefined || passes === undefined || lanes === undefined) return false;
  if (lanes < 1 || lanes > maxLanes || passes < 1 || passes > maxPasses) return false;
  return memory >= 8 * lanes && memory <= maxMemoryKib;
}
