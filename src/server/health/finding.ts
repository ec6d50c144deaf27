import type { Config } from "../config/config.ts";
import type { Environment } from "../config/environment.ts";
import type { SystemCtx, Tenant } from "../context.ts";
import type { CommandLine } from "../db/db-errors.ts";

/** In ascending order. A note is information, a warning may become an error, and an error needs action now. */
export const severities = ["note", "warning", "error"] as const;
export type Severity = (typeof severities)[number];

export type Group = "environment" | "records" | "database";

export interface Finding {
  severity: Severity;
  subject: string;
  namespace?: string | null;
  /** One or two sentences that name the subject. They never contain a secret. */
  message: string;
  /** A command that can be pasted, or a sentence that says what to do; null if there is nothing to do. */
  remedy: string | null;
  /** The field of an inconsistent record, its value, and the value that it should have according to other records. */
  field?: string;
  is?: string | number | null;
  should?: string | number | null;
  /** Fixes the problem. A server may be running. May throw. */
  fix?: (() => unknown) | undefined;
}

export type ReportedFinding = Finding & { group: Group; check: string; fixable: boolean; fixed: boolean };

export interface CheckSubject {
  config: Config;
  env: Environment;
  /** Null if the database cannot be opened, or has another schema than this program. */
  ctx: SystemCtx | null;
  tenant: Tenant | null;
  now(): number;
  version: string;
  uid: number | undefined;
  timeoutMs: number;
  command: CommandLine;
}

export type StoreSubject = CheckSubject & { ctx: SystemCtx };

export type RecordSubject = Pick<StoreSubject, "ctx" | "tenant" | "now" | "command">;

export type Findings = AsyncIterable<Finding> | Iterable<Finding>;

export function finding(severity: Severity, subject: string, message: string, remedy: string | null): Finding {
  return { severity, subject, message, remedy };
}

/** Returns a count with its noun, such as `1 mail`, `3 mails` or `2 deliveries`. */
export function countOf(count: number, noun: string): string {
  return `${count} ${count === 1 ? noun : `${noun.replace(/y$/, "ie")}s`}`;
}

export function reasonOf(error: unknown): string {
  return error instanceof Error ? (error.message.split("\n")[0] ?? "") : "unknown";
}
