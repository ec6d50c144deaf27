import type { Config } from "../../config/config.ts";
import type { SystemCtx, Tenant } from "../../context.ts";
import type { Database } from "../../db/session.ts";

/** How bad a finding is, ascending. An error stops something now, a warning will or may, a note is good to know. */
export const severities = ["note", "warning", "error"] as const;

export type Severity = (typeof severities)[number];

/** Something in the surroundings of a server that is not as it should be. */
export interface Finding {
  severity: Severity;
  /** What it is about: a path, an id, an address, the name of a setting. */
  subject: string;
  /** Namespace of the store that it concerns; none for what concerns the whole server. */
  namespace?: string;
  /** One or two sentences that name the subject; never a secret. */
  message: string;
  /** A command or step that works as printed; null where there is nothing to do. */
  remedy: string | null;
  /** Puts it right where that is safe beside a running server; `--fix` calls it. It may throw. */
  mend?(): Promise<void>;
}

/** What the checks of a server's surroundings are given. */
export interface CheckupDeps {
  config: Config;
  /** Null where there is none, or it cannot be opened. */
  db: Database | null;
  /** With a database whose schema is the one of this program; else null. */
  ctx: SystemCtx | null;
  /** The only store to look at; null for all. */
  tenant: Tenant | null;
  /** Epoch milliseconds. */
  now(): number;
  /** Of this program. */
  version: string;
  /** Epoch milliseconds at which this program was made. */
  builtAt: number;
  /** Of the account that runs the check; undefined where the system knows none. */
  uid: number | undefined;
  /** What a conversation over the network may take at most, in milliseconds. */
  timeoutMs: number;
  /**
   * A command line of this program for a remedy: `db migrate` as `bodega db migrate --data-dir /srv/shop`, with the flags
   * that name the database as they were given.
   */
  command(words: string): string;
}

/**
 * One look at the surroundings. Whatever it throws is told as an error of that check and hides no other; checks run side by
 * side, so none may count on another.
 */
export interface Checkup {
  /** One word, as `doctor` prints it. */
  name: string;
  /** Whether it says something of a single store as well (`-n`). */
  ofStores?: boolean;
  find(about: CheckupDeps): Promise<Finding[]>;
}
