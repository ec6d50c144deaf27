import type { Report } from "../../../server/health/doctor.ts";
import { countOf } from "../../../server/health/finding.ts";
import { makeContext, readCliConfig } from "../../context/context.ts";
import { namespaceArg, valueArg } from "../../framework/args.ts";
import { defineCommand } from "../../framework/command.ts";
import { type Console, fitLines, invalidFlag, printJson } from "../../terminal/console.ts";
import { withProgress } from "../../terminal/progress.ts";
import { escapeControls } from "../../terminal/text.ts";
import { replicateFlag, serveFlags } from "../serve/serve.ts";
import { buildInfo } from "../version.ts";

const commands = /^(?:\S*bodega|chmod|chown|sudo|mount|du|timedatectl|echo|kill) /;
const marks = { ok: [32, "✓"], note: [36, "i"], warning: [33, "!"], error: [31, "✗"] } as const;
const maxShown = 20;
const redrawMs = 200;

// BODEGA_NAMESPACE is the default of commands about one store, so it must not restrict these checks.
const { env: _, ...namespaceFlag } = namespaceArg;

export function depsOf({ command, env }: Console) {
  const { version } = buildInfo;
  return { now: Date.now, env, version, uid: process.getuid?.(), timeoutMs: 5000, command, makeContext };
}

export default defineCommand({
  description: "Check the server's environment, database and records, and fix what can be fixed",
  args: {
    namespace: { ...namespaceFlag, description: "Check only the records and settings of this store" },
    fix: { type: "boolean", description: "Fix what can be fixed, and record it in the audit log" },
    only: valueArg("check", "Run only this check; separate several with commas", { multiple: true }),
    ignore: valueArg("check", "Skip this check; separate several with commas", { multiple: true }),
    strict: { type: "boolean", description: "Exit with 1 for warnings too" },
    ...serveFlags,
    ...replicateFlag,
  },
  examples: ["bodega doctor", "bodega doctor -n demo --fix", "bodega doctor --strict --only mail,backups --json"],
  notes: [
    "Stock, totals, balances, counts and search are recomputed and compared with the stored values. Each finding says what to do.",
    "The exit code is 1 if an error remains, and otherwise 0. A server may be running; use the same flags and environment as for " +
      "the server. Entries of the points ledger and order numbers are never changed.",
    "--only and --ignore take the names that the report shows. The data directory and the schema are always checked.",
  ],
  async run(args, console) {
    const { namespace, fix, strict } = args;
    const { optionalChecks, runDoctor } = await import("../../../server/health/doctor.ts");
    const [only = [], ignore] = (["only", "ignore"] as const).map((flag) => {
      const ids = args[flag].flatMap((text) => text.split(","));
      if (ids.every((id) => optionalChecks.includes(id))) return ids;
      throw invalidFlag(`--${flag}`, `must name one of these checks: ${optionalChecks.join(", ")}`);
    });
    const skip = optionalChecks.filter((id) => ignore?.includes(id) || (only.length > 0 && !only.includes(id)));
    const fixCommand = console.command(`doctor${namespace === undefined ? "" : ` -n ${namespace}`} --fix`);
    const config = readCliConfig(args, console);
    return runAndPrint(console, fix ? null : fixCommand, (running) =>
      runDoctor(config, { namespace, fix, strict, skip, running, deps: depsOf(console) }),
    );
  },
});

/**
 * Runs checks, prints their report, and returns the exit code.
 * @param fixCommand the command that fixes findings; null if this run has fixed them.
 */
export async function runAndPrint(
  console: Console,
  fixCommand: string | null,
  run: (running: Set<string>) => Promise<Report>,
) {
  const report = await withProgress(console, undefined, (show) => {
    const running = new Set<string>();
    const timer = setInterval(() => show(0, `Checking: ${[...running].join(", ")}`), redrawMs);
    return run(running).finally(() => clearInterval(timer));
  });
  if (console.json) await printJson(console, report);
  else if (console.quiet) {
    const urgent = report.findings.filter(({ severity }) => severity !== "note");
    await console.write(urgent.map(({ subject }) => `${escapeControls(subject)}\n`).join(""));
  } else await printReport(console, report, fixCommand);
  return report.ok ? 0 : 1;
}

async function printReport(console: Console, report: Report, fixCommand: string | null): Promise<void> {
  for (const [group, passed] of Object.entries(report.passed)) {
    const found = report.findings.filter((finding) => finding.group === group);
    if (found.length + passed.length === 0) continue;
    const lines = [...Map.groupBy(found, ({ check }) => check)].flatMap(([check, all]) => {
      const shown = all.slice(0, maxShown);
      const rendered = shown.flatMap(({ severity, message, remedy, fixed }, index) => {
        const text = `${fixed ? "fixed: " : ""}${check}: ${escapeControls(message)}`;
        const line = renderMarked(console, fixed ? "ok" : severity, text);
        // If several findings have the same remedy, it is printed once, after the last of them.
        const isDone = fixed || remedy === null || [shown[index + 1]?.remedy, fixCommand].includes(remedy);
        return isDone ? [line] : [line, renderRemedy(console, remedy)];
      });
      if (all.length > maxShown) rendered.push(`  ${all.length - maxShown} more of ${check}: see --json`);
      return rendered;
    });
    if (passed.length > 0) lines.push(renderMarked(console, "ok", passed.join(", ")));
    await console.write(`${[group.charAt(0).toUpperCase() + group.slice(1), ...lines].join("\n")}\n`);
  }
  await console.writeError(`${fitLines(console, summarize(report))}\n`);
  if (fixCommand !== null && report.findings.some(({ fixable, fixed }) => fixable && !fixed)) {
    await console.writeError(`Fix what can be fixed with:\n${renderRemedy(console, fixCommand)}\n`);
  }
}

function renderMarked(console: Console, state: keyof typeof marks, text: string): string {
  const [color, mark] = marks[state];
  const shown = console.color ? `\u001b[${color}m${mark}\u001b[39m` : mark;
  return `  ${shown} ${fitLines(console, `    ${text}`).trimStart()}`;
}

/** Wraps a remedy to the terminal's width. A command is not wrapped, so that it can be pasted. */
function renderRemedy(console: Console, remedy: string): string {
  const text = escapeControls(remedy);
  return `    > ${commands.test(text) ? text : fitLines(console, `      ${text}`).trimStart()}`;
}

function summarize({ findings, checked }: Report): string {
  const left = findings.filter(({ fixed }) => !fixed);
  const fixed = findings.length - left.length;
  const counts = ["error", "warning", "note"].map((noun) => {
    return countOf(left.filter(({ severity }) => severity === noun).length, noun);
  });
  const parts = [...counts, `${fixed} fixed`].filter((part) => !part.startsWith("0 "));
  return `${checked.length} checks: ${parts.length === 0 ? "no problems found" : parts.join(", ")}.`;
}
