import { randomUUID } from "node:crypto";
import { backupDestination } from "../config/backup-config.ts";
import type { Config } from "../config/config.ts";
import { invalidOption } from "../config/environment.ts";
import { wrongState } from "../errors.ts";
import { type BoundedStorage, openBoundedStorage } from "../object-store/open-storage.ts";
import { copySecret } from "../security/secret-key.ts";
import { createVault, type Vault } from "../security/vault.ts";

export interface ReplicaTarget extends BoundedStorage {
  vault: Pick<Vault, "fingerprint" | "mac">;
  /** Whether to read objects without verifying signatures, because the key is lost. */
  isUnchecked: boolean;
  /** The remedy for objects of another key. It ends in a command, which the terminal completes. */
  keyRemedy: string;
}

/**
 * Opens a replica; its key is read at the first use. `flags` are those of the `db restore` that reads it. Errors of its
 * calls are unavailable. Throws as `openStorage`.
 */
export function openReplica(
  address: string,
  config: Parameters<typeof copySecret>[0] & Pick<Config, "s3">,
  { timeoutMs, isUnchecked = false, flags = "" }: { timeoutMs?: number; isUnchecked?: boolean; flags?: string } = {},
): ReplicaTarget {
  const keyRemedy =
    `Copy the secret.key that it was signed with to ${config.dataDir ?? "the data directory"}, or set BODEGA_SECRET, and ` +
    "start this command again. States from before db rekey need the key from before. If that key is lost: " +
    `bodega db restore ${address}${flags} --without-signature`;
  const vault = createVault(() => {
    const secret = copySecret(config);
    if (secret !== null) return secret;
    throw wrongState(`The replica in ${address} is signed with the secret key of its server, which is missing here.`, {
      remedy: keyRemedy,
    });
  });
  return { ...openBoundedStorage(address, config, "replica", timeoutMs), vault, isUnchecked, keyRemedy };
}

/** Throws validationFailed for a `--replicate-to` in the data directory. */
export function requireApart(given: string, dataDir: string): string {
  const source = "--replicate-to";
  const address = backupDestination({ value: given, source }) as string;
  if (!`${address}/`.startsWith(`${dataDir}/`)) return address;
  throw invalidOption(source, "must not be in the data directory, with which it would be lost");
}

export async function tryTarget(address: string, config: Pick<Config, "s3">): Promise<void> {
  const target = openBoundedStorage(address, config, "replica");
  const name = `test-${randomUUID()}`;
  await target.create(name, new Uint8Array());
  await target.remove(name);
}
