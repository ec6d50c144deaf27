import { randomBytes } from "node:crypto";
import { closeSync, fsyncSync, linkSync, openSync, readFileSync, rmSync, writeSync } from "node:fs";
import { join } from "node:path";
import { sql } from "drizzle-orm";
import type { Config } from "../config/config.ts";
import { giveToOwner, makeDataDir, restrictFile } from "../config/data-dir.ts";
import type { Session } from "../db/session.ts";
import { get, param, run, statement } from "../db/statement.ts";
import { type AppError, conflict, unavailable, wrongState } from "../errors.ts";
import { secretFingerprint } from "./table.ts";
import { createVault, type Vault } from "./vault.ts";

const leastCharacters = 32;

const rememberFingerprint = statement(sql`
  insert into ${secretFingerprint} (id, value) values (1, ${param("value")}) on conflict (id) do nothing`);
const replaceFingerprint = statement(sql`
  insert into ${secretFingerprint} (id, value) values (1, ${param("value")})
  on conflict (id) do update set value = excluded.value`);
const selectFingerprint = statement<{ value: string }>(sql`select value from ${secretFingerprint} where id = 1`);

/**
 * The vault of a configuration: of `BODEGA_SECRET`, else of `secret.key` in the data directory. That file is made when
 * it is first needed, unless the database was made with one that is missing now.
 * @returns a vault whose first use throws AppError wrongState when its key is not the one of this database.
 */
export async function openVault(config: SecretConfig, db: Session): Promise<Vault> {
  const known = (await get(db, selectFingerprint))?.value;
  return createVault(() => {
    const secret = readSecret(config, known === undefined);
    if (known !== undefined && createVault(() => secret).fingerprint() !== known) throw wrongSecret(otherSecret);
    return secret;
  });
}

/**
 * Ties a database to the key of its server, where it is not tied yet.
 * @throws wrongState when it is tied to another.
 */
export async function claimDatabase(db: Session, vault: Vault): Promise<void> {
  const value = vault.fingerprint();
  await run(db, rememberFingerprint, { value });
  // Two servers that start with different keys at the same time both saw none.
  if ((await get(db, selectFingerprint))?.value !== value) throw wrongSecret(otherSecret);
}

/**
 * The secret itself, for a copy that its owner asked for; null where there is none.
 * @throws unavailable when its file cannot be read, wrongState when that holds no secret.
 */
export function copySecret({ secret, dataDir }: SecretConfig): string | null {
  return secret ?? findSecret(secretPath(dataDir)) ?? null;
}

/**
 * Puts a secret into the data directory's file, where there is none.
 * @throws conflict when there is one, unavailable when it cannot be written.
 */
export function saveSecret(dataDir: string, secret: string): void {
  const path = secretPath(dataDir);
  if (findSecret(path) !== undefined) throw conflict(`There is a secret key already: ${path}`);
  writeSecret(dataDir, path, secret);
}

/** Tells a secret's key apart from others, as the database remembers it. */
export function fingerprintOf(secret: string): string {
  return createVault(() => secret).fingerprint();
}

/** The vault of a server that may not touch what is sealed: every use fails, and everything else goes on. */
export function closedVault(cause: AppError): Vault {
  return createVault(() => {
    throw unavailable("This server does not have the database's secret key.", { cause });
  });
}

/**
 * Ties a database to the present key, whatever it was before: what was sealed with the old one stays closed.
 * @returns whether there was an old one, and it was another.
 */
export async function adoptSecret(db: Session, config: SecretConfig): Promise<boolean> {
  const before = (await get(db, selectFingerprint))?.value;
  const value = createVault(() => readSecret(config, true)).fingerprint();
  await run(db, replaceFingerprint, { value });
  return before !== undefined && before !== value;
}

type SecretConfig = Pick<Config, "secret" | "dataDir"> & {
  /** Reads the file whatever its mode is, and does not change that, for who only looks. */
  leaveModes?: boolean;
};

const otherSecret = "The secret key is not the one that this database was made with.";

function wrongSecret(what: string): AppError {
  return wrongState(`${what} Put the right secret.key or BODEGA_SECRET back; if it is lost for good: bodega db rekey`);
}

function readSecret({ secret, dataDir, leaveModes }: SecretConfig, mayMake: boolean): string {
  if (secret !== undefined) return secret;
  const path = secretPath(dataDir);
  const found = findSecret(path, leaveModes);
  if (found !== undefined) return found;
  if (!mayMake) throw wrongSecret(`${path} is missing.`);
  return makeSecret(dataDir, path);
}

/**
 * Makes the file, readable by its owner only. Several processes may need it at once, so it is written aside and linked
 * into place: nobody can read half of it, and the first one's stands.
 * @throws unavailable when that is impossible.
 */
function makeSecret(dataDir: string, path: string): string {
  writeSecret(dataDir, path, randomBytes(32).toString("base64url"));
  const secret = findSecret(path);
  if (secret === undefined) throw unusable(path, undefined);
  return secret;
}

function writeSecret(dataDir: string, path: string, text: string): void {
  const made = join(dataDir, `secret.key.${process.pid}.${randomBytes(6).toString("hex")}`);
  try {
    makeDataDir(dataDir);
    const file = openSync(made, "wx", 0o600);
    try {
      writeSync(file, `${text}\n`);
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
    giveToOwner(made, dataDir);
    linkUnlessThere(made, path);
  } catch (error) {
    throw unusable(path, error);
  } finally {
    rmSync(made, { force: true });
  }
}

function secretPath(dataDir: string): string {
  return join(dataDir, "secret.key");
}

function linkUnlessThere(made: string, path: string): void {
  try {
    linkSync(made, path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  }
}

/** The secret of a file, undefined where there is no file. Errors: unavailable unreadable, wrongState not a secret. */
function findSecret(path: string, leaveModes = false): string | undefined {
  let secret: string;
  try {
    // Copied by hand, it may have become readable for others.
    if (!leaveModes) restrictFile(path);
    secret = readFileSync(path, "utf8").trim();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw unusable(path, error);
  }
  if (secret.length < leastCharacters) throw wrongSecret(`${path} holds no secret.`);
  return secret;
}

function unusable(path: string, cause: unknown): AppError {
  return unavailable(`The secret key ${path} can be neither read nor made.`, { cause });
}
