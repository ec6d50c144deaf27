import { type AppError, type ErrorOptions, validationFailed } from "../errors.ts";
import { attempt } from "../values/attempt.ts";

export interface Manifest {
  /** The version of the format. It changes when older programs cannot read the archive. */
  format: 1;
  created_at: string;
  version: string;
  source: "file" | "server";
  /** `begun_at` is the time at which the database was created. It identifies the database. */
  database: { bytes: number; sha256: string; begun_at: string | null };
  schema: { name: string; hash: string }[];
  stores: number;
}

export function parseManifest(text: string): Manifest {
  const manifest: Manifest | undefined = attempt(() => JSON.parse(text));
  if (typeof manifest?.format === "number" && manifest.format !== 1) {
    throw damaged(`The backup has format ${manifest.format} of a newer version of Bodega. Use that version.`);
  }
  if (manifest?.format !== 1 || !isManifest(manifest)) throw damagedBackup("its manifest cannot be read");
  return manifest;
}

/** Returns the error for a damaged archive. The exit code is 1, not 2, because the command line was correct. */
export function damaged(message: string, options: Pick<ErrorOptions, "remedy" | "cause"> = {}): AppError {
  return validationFailed(message, { exit: 1, ...options });
}

export function damagedBackup(reason: string): AppError {
  return damaged(`The file is not a Bodega backup or is damaged: ${reason}.`);
}

export const replicaDamage = "The replica is damaged: ";

export function damagedReplica(reason: string, remedy?: string): AppError {
  return damaged(`${replicaDamage}${reason}.`, { remedy });
}

export function foreignObject(reason: string): AppError {
  const followUp = "If the replica needs it, its server makes a new snapshot within an hour.";
  return damagedReplica(reason, `Delete this object, and check who can write there. ${followUp}`);
}

/** Checks only the fields that are printed or used. */
function isManifest({ created_at, version, database }: Manifest): boolean {
  return (
    typeof created_at === "string" &&
    /^\d{4}-\d\d-\d\dT[\d:.]{8,12}Z$/.test(created_at) &&
    !Number.isNaN(Date.parse(created_at)) &&
    typeof version === "string" &&
    /^[\x21-\x7e]{1,100}$/.test(version) &&
    typeof database?.sha256 === "string" &&
    (database.begun_at === null || typeof database.begun_at === "string")
  );
}
