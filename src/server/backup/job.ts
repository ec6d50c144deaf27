import type { Environment } from "../config/environment.ts";
import type { ErrorKind } from "../errors.ts";

/** What a backup's own process is told beside its flags; no secret is in it. */
export interface BackupJob {
  /** Names what it leaves unfinished, so that whoever started it can take that away: hexadecimal. */
  id: string;
  /** Who asked for it. */
  by: "server" | "terminal";
}

/** How far a backup is; `done` of `total` bytes. */
export interface BackupStep {
  step: "waiting" | "copying" | "checking" | "packing";
  done?: number;
  total?: number;
}

/** What became of one. */
export interface BackupReport {
  /** Where it is: a path, an `s3://` address, or `-`. */
  backup: string;
  created_at: string;
  /** Of the container. */
  bytes: number;
  database_bytes: number;
  /** The latest migration that it has. */
  schema: string | null;
  stores: number;
  key_included: boolean;
  /** Names of the older backups that were removed. */
  removed: string[];
  /** What did not go as asked, though the backup is whole. */
  warnings: string[];
}

/** What the process says to the one that started it. */
export type BackupMessage =
  | BackupStep
  | { report: BackupReport }
  | { error: { kind: ErrorKind; exit: 1 | 2 | 3 | 4; message: string; remedy?: string | undefined } };

const variable = "BODEGA_BACKUP_JOB";

/** The environment that tells a process its job. */
export function jobEnvironment(job: BackupJob): Environment {
  return { [variable]: JSON.stringify(job) };
}

/** The job of this process; undefined where a person has started it. */
export function readJob(env: Environment): BackupJob | undefined {
  const text = env[variable];
  return text === undefined ? undefined : (JSON.parse(text) as BackupJob);
}
