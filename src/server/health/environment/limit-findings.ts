import type { Finding } from "./finding.ts";

/** How many findings of one kind are told one by one. */
export const maxAlike = 20;

/** The first of many alike, and one more that counts the rest; it has no remedy of its own. */
export function limitFindings(findings: Finding[], noun: string): Finding[] {
  if (findings.length <= maxAlike) return findings;
  const shown = findings.slice(0, maxAlike);
  const rest = findings.length - shown.length;
  const severity = shown.at(-1)?.severity ?? "note";
  return [...shown, { severity, subject: noun, message: `The same holds for ${rest} more ${noun}.`, remedy: null }];
}
