import { readDataDir } from "../../../server/config/options.ts";
import { AppError } from "../../../server/errors.ts";
import { makeContext } from "../../context/context.ts";
import { readCliConfig } from "../../context/read-config.ts";
import { namespaceArg } from "../../framework/args.ts";
import { defineCommand } from "../../framework/command.ts";
import { buildInfo, madeAt } from "../../terminal/build-info.ts";
import { commandLine } from "../../terminal/command-line.ts";
import type { Console } from "../../terminal/console.ts";
import { printJson } from "../../terminal/output.ts";
import { addressFlags, readAddressFlags } from "../serve/server-process.ts";

/** A conversation over the network takes no longer. */
const timeoutMs = 5000;

export default defineCommand({
  name: "doctor",
  description: "Look for what is wrong around the server and in its records, and mend it",
  args: {
    namespace: { ...namespaceArg, description: "Only this tenant" },
    fix: { type: "boolean", description: "Mend what can be, and write that down in the audit log" },
    strict: { type: "boolean", description: "End with 1 for warnings as well" },
    ...addressFlags,
  },
  examples: ["bodega doctor", "bodega doctor -n demo --fix", "bodega doctor --strict --json"],
  notes: [
    "First come the surroundings: folder and disk, schema, secret key, clock, backups, mail server, certificate, public " +
      "address, keys, accounts. Then all that is kept beside what it follows from is computed again: stock, totals, " +
      "balances, counts, search. Each finding says what to do.",
    "The exit code is 0 when nothing is wrong, or all of it has been mended, and 1 when an error stays. " +
      "A server may be running; give the flags that it has, or run this in its environment. The ledger of points and the " +
      "numbers of orders are never rewritten.",
  ],
  async run(args, console) {
    const { namespace, fix, strict } = args;
    const { version } = buildInfo;
    const command = commandLine(args);
    const deps = {
      now: Date.now,
      version,
      builtAt: madeAt,
      uid: process.getuid?.(),
      timeoutMs,
      command,
    };
    const { examine, examineFolder } = await import("../../../server/health/doctor.ts");
    const config = readSettings(args, console);
    const { startProgress } = await import("../../terminal/progress.ts");
    const progress = startProgress(console, 100);
    const onProgress = (done: number, total: number, running: readonly string[]) =>
      progress.show((100 * done) / total, `Checking: ${running.join(", ")}`);
    const looking =
      config instanceof AppError
        ? examineFolder(readDataDir({ dataDir: args["data-dir"] }, console.env), config, { fix, deps })
        : examine(config, { namespace, fix, strict, makeContext, onProgress, deps });
    const report = await looking.finally(() => progress.end());
    if (console.json) await printJson(console, report);
    else {
      const { printExamination } = await import("./print.ts");
      const mending = command(`doctor${namespace === undefined ? "" : ` -n ${namespace}`} --fix`);
      await printExamination(console, report, fix ? null : mending);
    }
    return report.ok ? 0 : 1;
  },
});

/** The configuration, or what is wrong with it: also then there is something to look at. What is wrong with a flag is thrown. */
function readSettings(
  args: Parameters<typeof readAddressFlags>[0] & Parameters<typeof readCliConfig>[0],
  console: Console,
) {
  try {
    return readCliConfig(args, console, readAddressFlags(args));
  } catch (error) {
    if (!(error instanceof AppError) || error.details?.some(({ field }) => field.startsWith("--"))) throw error;
    return error;
  }
}
