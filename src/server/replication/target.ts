import { randomUUID } from "node:crypto";
import { readFileSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { backupDestination, type Config } from "../config/config.ts";
import { writeWhole } from "../config/data-dir.ts";
import { invalidOption } from "../config/environment.ts";
import type { WalPosition } from "../db/local/wal-frames.ts";
import { wrongState } from "../errors.ts";
import { type BoundedStorage, openBoundedStorage } from "../object-store/open-storage.ts";
import { copySecret } from "../security/secret-key.ts";
import { createVault, type Vault } from "../security/vault.ts";
import { attempt } from "../values/attempt.ts";

export interface ReplicaTarget extends BoundedStorage {
  vault: Pick<Vault, "fingerprint" | "mac">;
  /** Whether to read objects without verifying signatures, because the key is lost. */
  isUnchecked: boolean;
  /** The remedy for objects of another key. It ends in a command, which the terminal completes. */
  keyRemedy: string;
}

/**
 * Opens a replica. The secret key is read at the first use. If a call to the place fails, it throws unavailable. Throws
 * as `openStorage`.
 */
export function openReplica(
  address: string,
  config: Parameters<typeof copySecret>[0] & Pick<Config, "s3">,
  { timeoutMs, isUnchecked = false }: { timeoutMs?: number; isUnchecked?: boolean } = {},
): ReplicaTarget {
  const keyRemedy =
    `Copy the secret.key that it was signed with to ${config.dataDir ?? "the data directory"}, or set BODEGA_SECRET, and ` +
    "start this command again. States from before db rekey need the key of that time. If that key is lost: " +
    `bodega db restore ${address} --without-signature`;
  const vault = createVault(() => {
    const secret = copySecret(config);
    if (secret !== null) return secret;
    throw wrongState(`The replica in ${address} is signed with the secret key of its server, which is missing here.`, {
      remedy: keyRemedy,
    });
  });
  return { ...openBoundedStorage(address, config, "replica", timeoutMs), vault, isUnchecked, keyRemedy };
}

/** Returns where `--replicate-to` points. Throws validationFailed for a place in the data directory. */
export function requireApart(given: string, dataDir: string): string {
  const source = "--replicate-to";
  const address = backupDestination({ value: given, source }) as string;
  if (!`${address}/`.startsWith(`${dataDir}/`)) return address;
  throw invalidOption(source, "must be outside the data directory, so that both are not lost together");
}

export async function tryTarget(address: string, config: Pick<Config, "s3">): Promise<void> {
  const target = openBoundedStorage(address, config, "replica");
  const name = `test-${randomUUID()}`;
  await target.create(name, new Uint8Array());
  await target.remove(name);
}

interface ReplicaState {
  place: string;
  /** The generation of the server that wrote the state; 0 after a restore. */
  generation: number;
  /** The end of the last segment that is in the file; null if the file has no segment. */
  end: WalPosition | null;
  /** The newest object that the place had when the file was restored from there. */
  restored?: string;
  /** Inode, size and time of the file. If size or time has changed, the file may have commits that were not sent. */
  file: ReturnType<typeof identify>;
}

function identify(databasePath: string) {
  const { ino, size, mtimeMs } = statSync(databasePath);
  return { ino, size, mtimeMs };
}

/** Reads the state. `isSameFile`: the database file was not replaced. `isUnchanged`: its size and time are the same. */
export function readReplicaState(databasePath: string, place?: string) {
  return attempt(() => {
    const state = JSON.parse(readFileSync(statePath(databasePath), "utf8")) as ReplicaState;
    if (withoutSlash(state.place) !== withoutSlash(place ?? state.place)) return undefined;
    const { ino, size, mtimeMs } = identify(databasePath);
    const isUnchanged = state.file.size === size && state.file.mtimeMs === mtimeMs;
    return { ...state, isSameFile: state.file.ino === ino, isUnchanged };
  });
}

/** Writes the state. With `isMust`, a failure throws. Otherwise, it only makes the next server send a new snapshot. */
export function writeReplicaState(databasePath: string, state: Omit<ReplicaState, "file">, isMust = false): void {
  const text = `${JSON.stringify({ ...state, file: identify(databasePath) })}\n`;
  const write = () => writeWhole(dirname(databasePath), statePath(databasePath), text);
  // The disk may be full. The checkpointer reports that, so an error is ignored here.
  if (isMust) write();
  else attempt(write);
}

/** An S3 prefix means the same with and without a slash at its end. */
const withoutSlash = (place: string) => place.replace(/\/$/, "");

function statePath(databasePath: string): string {
  return join(dirname(databasePath), "replication.json");
}
