import { withContext } from "../../context/context.ts";
import { defineCommand } from "../../framework/command.ts";
import { info, printRecord } from "../../terminal/output.ts";

export default defineCommand({
  name: "verify",
  description: "Verify that no audit log entry was changed or removed",
  args: {
    expect: {
      type: "string",
      valueHint: "seq:hash",
      description: "Head printed by an earlier verify",
    },
  },
  examples: ["bodega audit verify"],
  notes: [
    "The exit code is 0 when the log is intact, otherwise 1. Someone who can write the database file can also replace " +
      "the whole log. Save the head elsewhere and pass it to --expect to detect that.",
  ],
  async run(args, console) {
    const { verifyAudit } = await import("../../../server/modules/audit/verify.ts");
    const verdict = await withContext(args, console, (ctx) => verifyAudit(ctx, args));
    const { first, last, ...shown } = verdict;
    const head = last === null ? null : `${last.seq}:${last.hash}`;
    if (console.json) await printRecord(console, verdict, "intact");
    else await printRecord(console, { ...shown, from: first?.at, to: last?.at, head }, "head");
    if (verdict.intact && head !== null)
      await info(console, "Save the head elsewhere and pass it to --expect next time.");
    return verdict.intact ? 0 : 1;
  },
});
