import { randomBytes } from "node:crypto";
import { closeSync, fsyncSync, linkSync, openSync, readFileSync, rmSync, writeSync } from "node:fs";
import { join } from "node:path";
import { sql } from "drizzle-orm";
import type { Config } from "./config.ts";
import { makeDataDir } from "./db/data-dir.ts";
import type { Session } from "./db/session.ts";
import { get, run, statement } from "./db/statement.ts";
import { AppError } from "./errors.ts";
import { secretFingerprint } from "./modules/tenants/table.ts";
import { createVault, type Vault } from "./vault.ts";

const leastCharacters = 32;

const rememberFingerprint = statement(sql`
  insert into ${secretFingerprint} (id, value) values (1, ${sql.placeholder("value")}) on conflict (id) do nothing`);
const replaceFingerprint = statement(sql`
  insert into ${secretFingerprint} (id, value) values (1, ${sql.placeholder("value")})
  on conflict (id) do update set value = excluded.value`);
const selectFingerprint = statement<{ value: string }>(sql`select value from ${secretFingerprint} where id = 1`);

/** The vault of a configuration: of `BODEGA_SECRET`, else of `secret.key` in the data directory, made when first needed. */
export function openVault(config: Pick<Config, "secret" | "dataDir">): Vault {
  return createVault(() => config.secret ?? readSecretFile(config.dataDir));
}

/**
 * Makes sure that a database's sealed values were made with this key; a database that has none yet takes it.
 * @throws AppError 5306 when they were made with another.
 */
export async function requireSameSecret(db: Session, vault: Vault): Promise<void> {
  const value = vault.fingerprint();
  const known =
    (await get(db.primary, selectFingerprint)) ??
    ((await run(db, rememberFingerprint, { value })) > 0 ? { value } : await get(db.primary, selectFingerprint));
  if (known?.value === value) return;
  throw new AppError(
    5306,
    "The secret key is not the one that this database was made with. Put the right secret.key or BODEGA_SECRET back; " +
      "if it is lost for good: bodega db rekey",
  );
}

/** Lets a database take the present key for its own. What was sealed with the old one cannot be opened any more. */
export async function adoptSecret(db: Session, vault: Vault): Promise<void> {
  await run(db, replaceFingerprint, { value: vault.fingerprint() });
}

/**
 * The secret of `secret.key`, readable by its owner only, made on first use. Several processes may need it at once, so
 * it is written aside and linked into place: nobody can read half of it, and the first one's stands.
 * @throws AppError 5001 when it can neither be read nor made, 5306 when the file holds no secret.
 */
function readSecretFile(dataDir: string): string {
  const path = join(dataDir, "secret.key");
  try {
    return checkSecret(readFileSync(path, "utf8"), path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw explain(error, path);
  }
  const made = join(dataDir, `secret.key.${process.pid}.${randomBytes(6).toString("hex")}`);
  try {
    makeDataDir(dataDir);
    const file = openSync(made, "wx", 0o600);
    try {
      writeSync(file, `${randomBytes(32).toString("base64url")}\n`);
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
    try {
      linkSync(made, path);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    }
    return checkSecret(readFileSync(path, "utf8"), path);
  } catch (error) {
    throw explain(error, path);
  } finally {
    rmSync(made, { force: true });
  }
}

function checkSecret(text: string, path: string): string {
  const secret = text.trim();
  if (secret.length >= leastCharacters) return secret;
  throw new AppError(
    5306,
    `${path} holds no secret of at least ${leastCharacters} characters. Put the right file back.`,
  );
}

function explain(error: unknown, path: string): unknown {
  if (error instanceof AppError) return error;
  return new AppError(5001, `The secret key ${path} can be neither read nor made.`, { cause: error });
}
