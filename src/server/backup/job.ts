import type { Environment } from "../config/environment.ts";
import type { ErrorKind } from "../errors.ts";
import type { BackupLocation } from "./location.ts";

export interface BackupJob {
  /** Hexadecimal; names unfinished files, so that the process that started it can remove them. */
  id: string;
  by: "server" | "terminal";
  location: BackupLocation;
  /** How many backups of this database stay in the location; undefined keeps all. */
  keep: number | undefined;
  includeKey: boolean;
}

export interface BackupStep {
  step: "waiting" | "copying" | "checking" | "packing";
  done?: number;
  total?: number;
}

export interface BackupReport {
  /** A path, an `s3://` address, or `-`. */
  backup: string;
  created_at: string;
  bytes: number;
  database_bytes: number;
  schema: string | null;
  stores: number;
  key_included: boolean;
  removed: string[];
  /** Failures of later steps; the backup is complete. */
  warnings: string[];
}

export type BackupMessage =
  | BackupStep
  | { report: BackupReport }
  | { error: { kind: ErrorKind; exit: 1 | 2 | 3 | 4; message: string; remedy?: string | undefined } };

const variable = "BODEGA_BACKUP_JOB";

export function jobEnvironment(job: BackupJob): Environment {
  return { [variable]: JSON.stringify(job) };
}

/** Returns undefined when a person started the process. */
export function readJob(env: Environment): BackupJob | undefined {
  const text = env[variable];
  return text === undefined ? undefined : (JSON.parse(text) as BackupJob);
}
