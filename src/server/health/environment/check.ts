import type { Config } from "../../config/config.ts";
import type { SystemCtx, Tenant } from "../../context.ts";
import type { CommandLine, Finding } from "../finding.ts";

/** What the checks of the environment read. */
export interface CheckSubject {
  config: Config;
  /** Null where the database cannot be opened, or its schema is not the one of this program. */
  ctx: SystemCtx | null;
  /** The only store to check; null for all. */
  tenant: Tenant | null;
  /** Epoch milliseconds. */
  now(): number;
  /** Of this program. */
  version: string;
  /** User id of the account that runs the check; undefined where the system has none. */
  uid: number | undefined;
  /** Time limit of a network connection in milliseconds. */
  timeoutMs: number;
  command: CommandLine;
}

/** A subject with a database. */
export interface StoreSubject extends CheckSubject {
  ctx: SystemCtx;
}

interface CheckBase {
  /** One word, as `doctor` prints it. */
  id: string;
  /** Whether it also runs for a single store (`-n`). */
  ofStores?: boolean;
}

/**
 * A check of what surrounds the records of a server. Checks run side by side, so none may rely on another. An error that it
 * throws becomes a finding.
 */
export type EnvironmentCheck = CheckBase &
  (
    | { needsDatabase?: false; run(subject: CheckSubject): Promise<Finding[]> }
    | { needsDatabase: true; run(subject: StoreSubject): Promise<Finding[]> }
  );
