/** How bad a finding is, ascending: a note is good to know, a warning will or may become a fault, an error is one now. */
export const severities = ["note", "warning", "error"] as const;
export type Severity = (typeof severities)[number];

/** The parts of a report. */
export type Group = "environment" | "records" | "database";

/** Something that is not as it should be. */
export interface Finding {
  severity: Severity;
  /** A path, an id, an address or the name of an option. */
  subject: string;
  /** The store that it concerns; none for the whole server. */
  namespace?: string | undefined;
  /** One or two sentences that name the subject; never a secret. */
  message: string;
  /** A command that can be pasted, or what to do; null where there is nothing to do. */
  remedy: string | null;
  /** Of an inconsistent record: the field, its value and the value that follows from other records. */
  field?: string;
  is?: string | number | null;
  should?: string | number | null;
  /** Fixes it, safely beside a running server; may throw. */
  fix?(): Promise<void>;
}

/** A finding in a report. */
export interface ReportedFinding extends Omit<Finding, "fix" | "namespace"> {
  group: Group;
  check: string;
  namespace: string | null;
  /** Whether `fix` can fix it. */
  fixable: boolean;
  /** Whether this run has fixed it. */
  fixed: boolean;
}

/**
 * A command line for a remedy: `db migrate` becomes `bodega db migrate --data-dir /srv/shop`, with the flags that name the
 * database as they were given.
 */
export type CommandLine = (words: string) => string;

/** Findings of one kind that are listed one by one. */
const maxAlike = 20;

/** The first of many findings of one kind, and one more with the number of the others. */
export function limitFindings(findings: Finding[], noun: string): Finding[] {
  if (findings.length <= maxAlike) return findings;
  const rest = findings.length - maxAlike;
  const severity = findings[maxAlike]?.severity ?? "note";
  const more: Finding = { severity, subject: noun, message: `The same is true of ${rest} more ${noun}.`, remedy: null };
  return [...findings.slice(0, maxAlike), more];
}

/** `1 mail`, `3 mails`, `2 deliveries`. */
export function countOf(count: number, noun: string): string {
  return `${count} ${count === 1 ? noun : `${noun.replace(/y$/, "ie")}s`}`;
}

/** The first line of an error's message. */
export function reasonOf(error: unknown): string {
  return error instanceof Error ? (error.message.split("\n")[0] ?? "") : "unknown";
}
