import { randomUUID } from "node:crypto";
import { backupDestination } from "../config/backup-config.ts";
import type { Config } from "../config/config.ts";
import { invalidOption } from "../config/environment.ts";
import { type BoundedStorage, openBoundedStorage } from "../object-store/bounded-storage.ts";

export type Place = BoundedStorage;

/** Errors of its calls are unavailable. Throws as `openStorage`. */
export function openPlace(address: string, config: Pick<Config, "s3">, timeoutMs?: number): Place {
  return openBoundedStorage(address, config, "replica", timeoutMs);
}

/** Throws validationFailed for a `--replicate-to` in the data directory. */
export function requireApart(given: string, dataDir: string): string {
  const source = "--replicate-to";
  const address = backupDestination({ value: given, source }) as string;
  if (!`${address}/`.startsWith(`${dataDir}/`)) return address;
  throw invalidOption(source, "must not be in the data directory, with which it would be lost");
}

export async function tryPlace(address: string, config: Pick<Config, "s3">): Promise<void> {
  const place = openPlace(address, config);
  const name = `test-${randomUUID()}`;
  await place.create(name, new Uint8Array());
  await place.remove(name);
}
