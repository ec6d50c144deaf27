import { makeContext, readCliConfig } from "../../context/context.ts";
import { namespaceArg, valueArg } from "../../framework/args.ts";
import { defineCommand } from "../../framework/command.ts";
import { buildInfo } from "../../terminal/build-info.ts";
import { invalidFlag } from "../../terminal/usage-error.ts";
import { replicateFlag, serveFlags } from "../serve/serve.ts";
import { runAndPrint } from "./print.ts";

// Only the flag restricts the checks: BODEGA_NAMESPACE is a default for commands about one store.
const { env: _, ...namespaceFlag } = namespaceArg;
const timeoutMs = 5000;

export default defineCommand({
  description: "Check the server's environment, database and records, and fix what can be fixed",
  args: {
    namespace: { ...namespaceFlag, description: "Check only the records and settings of this store" },
    fix: { type: "boolean", description: "Fix what can be fixed, and record it in the audit log" },
    only: valueArg("check", "Run only this check; separate several with commas", { multiple: true }),
    ignore: valueArg("check", "Leave out this check; separate several with commas", { multiple: true }),
    strict: { type: "boolean", description: "Exit with 1 for warnings too" },
    ...serveFlags,
    ...replicateFlag,
  },
  examples: ["bodega doctor", "bodega doctor -n demo --fix", "bodega doctor --strict --only mail,backups --json"],
  notes: [
    "Environment: data directory, disk, settings, server, secret key, clock, backups, replica, restore test, mail server, certificate, public URL and proxy, " +
      "stores, accounts, keys, push, webhooks. Database: damage, references, schema. Records: stock, totals, balances, " +
      "counts and search are recomputed and compared. Each finding says what to do.",
    "The exit code is 0 when no error is found or all errors are fixed, and 1 when an error remains. A server may be " +
      "running; use the same flags and environment as for the server. Ledger entries and order numbers are never " +
      "changed.",
    "--only and --ignore take the names that the report shows. The directory and the schema are always checked.",
  ],
  async run(args, console) {
    const { namespace, fix, strict } = args;
    const { command, env } = console;
    const { version } = buildInfo;
    const deps = { now: Date.now, env, version, uid: process.getuid?.(), timeoutMs, command, makeContext };
    const { optionalChecks, runDoctor } = await import("../../../server/health/doctor.ts");
    const [only = [], ignore] = (["only", "ignore"] as const).map((flag) => {
      const ids = args[flag].flatMap((text) => text.split(","));
      if (ids.every((id) => optionalChecks.includes(id))) return ids;
      throw invalidFlag(`--${flag}`, `must name one of these checks: ${optionalChecks.join(", ")}`);
    });
    const skip = optionalChecks.filter((id) => ignore?.includes(id) || (only.length > 0 && !only.includes(id)));
    const fixCommand = command(`doctor${namespace === undefined ? "" : ` -n ${namespace}`} --fix`);
    const config = readCliConfig(args, console);
    return runAndPrint(console, fix ? null : fixCommand, (onProgress) =>
      runDoctor(config, { namespace, fix, strict, skip, onProgress, deps }),
    );
  },
});
