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
