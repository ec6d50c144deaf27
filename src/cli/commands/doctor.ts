import type { DoctorReport, Drift } from "../../server/doctor.ts";
import { namespaceArg } from "../args.ts";
import { withExisting } from "../context.ts";
import type { Io } from "../io.ts";
import { formatValue, printJson, printList, remark } from "../output.ts";
import { defineVerb } from "../verb.ts";

const mostShown = 100;

export default defineVerb({
  name: "doctor",
  description: "Compute again what is kept: stock, totals, balances, search; and mend it",
  args: {
    namespace: { ...namespaceArg, description: "Only of this tenant" },
    fix: { type: "boolean", description: "Mend what can be, and write that down in the audit log" },
  },
  examples: ["bodega doctor", "bodega doctor -n demo --fix", "bodega doctor --json"],
  notes: [
    "The exit code is 0 when nothing is wrong, or all of it has been mended, and 1 when something stays wrong. " +
      "A server may be running. The ledger of points and the numbers of orders are never rewritten.",
  ],
  async run(args, io) {
    const { namespace, fix } = args;
    const onCheck = io.stderrIsTerminal ? (name: string) => remark(io, `Checking: ${name}`) : undefined;
    const { runDoctor } = await import("../../server/doctor.ts");
    const report = await withExisting(args, io, (ctx) =>
      runDoctor(ctx, { namespace, fix, ...(onCheck && { onCheck }) }),
    );
    if (io.json) await printJson(io, report);
    else await printReport(io, report, fix);
    return report.ok ? 0 : 1;
  },
});

async function printReport(io: Io, report: DoctorReport, fix: boolean): Promise<void> {
  const { drift, notes } = report;
  const shown = io.quiet ? drift : drift.slice(0, mostShown);
  await printList(io, shown, {
    id: (one) => one.record,
    empty: "Nothing is wrong.",
    columns: [
      { header: "CHECK", value: (one) => one.check, whole: true },
      { header: "STORE", value: (one) => formatValue(one.namespace) },
      { header: "RECORD", value: (one) => one.record, whole: true },
      { header: "FIELD", value: (one) => one.field },
      { header: "IS", value: (one) => formatValue(one.is) },
      { header: "SHOULD BE", value: (one) => formatValue(one.should) },
      { header: "STATE", value: formatState, whole: true },
    ],
  });
  if (drift.length > shown.length) await remark(io, `and ${drift.length - shown.length} more, which --json lists`);
  for (const { check, namespace, text } of notes) {
    await remark(io, `${check}${namespace === null ? "" : ` in ${namespace}`}: ${text}`);
  }
  if (!fix && drift.some(({ fixable }) => fixable)) await remark(io, "Mend what can be with: bodega doctor --fix");
}

function formatState({ fixed, fixable }: Drift): string {
  if (fixed) return "mended";
  return fixable ? "can be mended" : "cannot be mended";
}
