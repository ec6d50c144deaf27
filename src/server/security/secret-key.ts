import { randomBytes } from "node:crypto";
import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { eq } from "drizzle-orm";
import type { Config } from "../config/config.ts";
import { restrictFile, writeWhole } from "../config/data-dir.ts";
import type { Session } from "../db/session.ts";
import { get, param, run, statement } from "../db/statement.ts";
import { type AppError, errnoOf, unavailable, wrongState } from "../errors.ts";
import { attempt } from "../values/attempt.ts";
import { secretFingerprint } from "./table.ts";
import { createVault, type Vault } from "./vault.ts";

const minCharacters = 32;

const { id } = secretFingerprint;
const fingerprint = { id: 1, value: param("value") };
const rememberFingerprint = statement((q) => q.insert(secretFingerprint).values(fingerprint).onConflictDoNothing());
const replaceFingerprint = statement((q) =>
  q.insert(secretFingerprint).values(fingerprint).onConflictDoUpdate({ target: id, set: fingerprint }),
);
export const selectFingerprint = statement((q) => q.select().from(secretFingerprint).where(eq(id, 1)));

/**
 * Opens the vault with the key from `BODEGA_SECRET` or the file `secret.key`. The first use of the vault reads the key,
 * and creates the file for a new database. It throws wrongState if the database was made with another key.
 */
export async function openVault(config: SecretConfig, db: Session): Promise<Vault> {
  const known = (await get(db, selectFingerprint))?.value;
  return createVault(() => {
    const secret = readSecret(config, known === undefined);
    if (known !== undefined && fingerprintOf(secret) !== known) throw wrongSecret(otherSecret);
    return secret;
  });
}

/** Records the fingerprint of the server's key in a new database. Errors: wrongState if the database has another. */
export async function claimDatabase(db: Session, vault: Vault): Promise<void> {
  const value = vault.fingerprint();
  await run(db, rememberFingerprint, { value });
  // Two servers with different keys may start at once and both find no fingerprint, so the stored one is compared.
  if ((await get(db, selectFingerprint))?.value !== value) throw wrongSecret(otherSecret);
}

/** Returns the secret, or null if there is none. Errors: unavailable, wrongState for a file without a valid secret. */
export function copySecret({ secret, dataDir, leaveModes }: SecretConfig): string | null {
  return secret ?? findSecret(secretPath(dataDir), leaveModes) ?? null;
}

export function fingerprintOf(secret: string): string {
  return createVault(() => secret).fingerprint();
}

/** Records the present key. Values that an older key encrypted stay unreadable. Returns whether the key has changed. */
export async function adoptSecret(db: Session, config: SecretConfig): Promise<boolean> {
  const before = (await get(db, selectFingerprint))?.value;
  const value = fingerprintOf(readSecret(config, true));
  await run(db, replaceFingerprint, { value });
  return before !== undefined && before !== value;
}

type SecretConfig = Pick<Config, "secret" | "dataDir"> & { leaveModes?: boolean };

const otherSecret = "This database was made with another secret key.";

function wrongSecret(what: string): AppError {
  return wrongState(`${what} Put the right secret.key or BODEGA_SECRET back. If it is lost: bodega db rekey`);
}

function readSecret({ secret, dataDir, leaveModes }: SecretConfig, mayMake: boolean): string {
  if (secret !== undefined) return secret;
  const path = secretPath(dataDir);
  const found = findSecret(path, leaveModes);
  if (found !== undefined) return found;
  if (!mayMake) throw wrongSecret(`${path} is missing.`);
  const made = randomBytes(32).toString("base64url");
  try {
    writeWhole(dataDir, path, `${made}\n`, true);
    return made;
  } catch (error) {
    // If several processes create the file, all use the first one.
    const first = findSecret(path);
    if (first === undefined) throw error;
    return first;
  }
}

/** Whether other accounts can read the key's file. The next use of the key makes the file private. */
export const isKeyOpen = (dataDir: string) => ((attempt(() => statSync(secretPath(dataDir)))?.mode ?? 0) & 0o044) !== 0;

function secretPath(dataDir: string): string {
  return join(dataDir, "secret.key");
}

function findSecret(path: string, leaveModes = false): string | undefined {
  let secret: string;
  try {
    // Other accounts may be able to read a file that was copied by hand, so its mode is restricted.
    if (!leaveModes) restrictFile(path);
    secret = readFileSync(path, "utf8").trim();
  } catch (cause) {
    if (errnoOf(cause) === "ENOENT") return undefined;
    throw unavailable(`The secret key ${path} cannot be read (${errnoOf(cause)}).`, { cause });
  }
  if (secret.length < minCharacters)
    throw wrongSecret(`${path} has no valid secret: it needs at least ${minCharacters} characters.`);
  return secret;
}
