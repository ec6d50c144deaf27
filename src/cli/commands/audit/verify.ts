import { withContext } from "../../context/context.ts";
import { defineCommand } from "../../framework/command.ts";
import { info, printRecord } from "../../terminal/output.ts";

export default defineCommand({
  name: "verify",
  description: "Check that nothing in the audit log was changed, removed or cut off",
  args: {
    expect: {
      type: "string",
      valueHint: "seq:hash",
      description: "Head that an earlier verify printed and that was kept elsewhere",
    },
  },
  examples: ["bodega audit verify", "bodega audit verify --json"],
  notes: [
    "The exit code is 0 when the log is intact, and 1 when it is not. Whoever can write the database file can also write " +
      "a whole new log: only a head that was kept elsewhere, given with --expect, shows that.",
  ],
  async run(args, console) {
    const { verifyAudit } = await import("../../../server/modules/audit/verify.ts");
    const verdict = await withContext(args, console, (ctx) => verifyAudit(ctx, args));
    const { first, last, ...shown } = verdict;
    const head = last === null ? null : `${last.seq}:${last.hash}`;
    if (console.json) await printRecord(console, verdict, "intact");
    else await printRecord(console, { ...shown, from: first?.at, to: last?.at, head }, "head");
    if (verdict.intact && head !== null) await info(console, "Keep the head elsewhere, for --expect at the next time.");
    return verdict.intact ? 0 : 1;
  },
});
