import type { SystemCtx } from "../../context.ts";
import { recordAudit } from "../../modules/audit/service.ts";
import { type Severity, severities } from "./finding.ts";
import type { Noted } from "./look.ts";

/** A finding as it is told. */
export interface ToldFinding {
  check: string;
  severity: Severity;
  /** Of the store that it concerns; null for the whole server. */
  namespace: string | null;
  subject: string;
  message: string;
  remedy: string | null;
  /** Whether `fix` puts it right. */
  fixable: boolean;
  /** Whether it has been put right by this call. */
  fixed: boolean;
}

/** Puts right what can be where that is asked for, and tells what has come of it. */
export async function settle(found: Noted[], ctx: SystemCtx | null, fix: boolean): Promise<ToldFinding[]> {
  const told: ToldFinding[] = [];
  for (const { check, finding } of found) {
    const { mend, namespace = null, ...rest } = finding;
    let { message } = rest;
    let fixed = false;
    if (fix && mend !== undefined) {
      try {
        await mend();
        fixed = true;
      } catch (error) {
        message += ` It could not be mended: ${error instanceof Error ? error.message : "unknown"}.`;
      }
      if (fixed && ctx !== null) {
        const details = { check, mended: 1 };
        await recordAudit(ctx, {
          event: "doctor.fixed",
          namespace: finding.namespace,
          subject: finding.subject,
          details,
        });
      }
    }
    told.push({ check, ...rest, message, namespace, fixable: mend !== undefined, fixed });
  }
  return told.sort((a, b) => severities.indexOf(b.severity) - severities.indexOf(a.severity));
}
