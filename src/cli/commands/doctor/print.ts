import type { Group } from "../../../server/health/finding.ts";
import type { Report, RunOptions } from "../../../server/health/run.ts";
import { type Console, fitLines, printJson } from "../../terminal/console.ts";
import { withProgress } from "../../terminal/progress.ts";
import { escapeControls, wrapWords } from "../../terminal/text.ts";

const titles: Record<Group, string> = { environment: "Environment", records: "Records", database: "Database" };
const marks = { ok: "✓", note: "i", warning: "!", error: "✗" };
const colors = { ok: 32, note: 36, warning: 33, error: 31 };
const maxShown = 20;
const indent = "    ";
const redrawMs = 200;
const maxWidth = 100;
const commands = /^(?:\S*bodega|chmod|chown|sudo|mount|du|timedatectl|echo|kill) /;

/** @param fixCommand the command that fixes findings; null if this run has fixed them. */
export async function runAndPrint(
  console: Console,
  fixCommand: string | null,
  run: (onProgress: RunOptions["onProgress"]) => Promise<Report>,
) {
  const report = await withProgress(console, undefined, (show) => {
    let note = "";
    // A long check may begin right after the line was drawn.
    const timer = setInterval(() => show(0, note), redrawMs);
    return run((running) => {
      if (running.length > 0) note = `Checking: ${running.join(", ")}`;
      show(0, note);
    }).finally(() => clearInterval(timer));
  });
  if (console.json) await printJson(console, report);
  else if (console.quiet) {
    const urgent = report.findings.filter(({ severity }) => severity !== "note");
    await console.write(urgent.map(({ subject }) => `${escapeControls(subject)}\n`).join(""));
  } else await printReport(console, report, fixCommand);
  return report.ok ? 0 : 1;
}

async function printReport(console: Console, report: Report, fixCommand: string | null): Promise<void> {
  const { findings } = report;
  for (const [group, title] of Object.entries(titles) as [Group, string][]) {
    const found = findings.filter((finding) => finding.group === group);
    const passed = report.passed[group];
    if (found.length + passed.length === 0) continue;
    const counts = new Map<string, number>();
    const shown = found.filter(({ check }) => {
      const count = (counts.get(check) ?? 0) + 1;
      counts.set(check, count);
      return count <= maxShown;
    });
    const lines = shown.flatMap((finding, index) => {
      // Findings with the same remedy print it once.
      const isShared = finding.remedy !== null && shown[index + 1]?.remedy === finding.remedy;
      return renderFinding(console, finding, !isShared && finding.remedy !== fixCommand);
    });
    for (const [check, count] of counts) {
      if (count > maxShown) lines.push(`  ${count - maxShown} more of ${check}: see --json`);
    }
    if (passed.length > 0) lines.push(renderLine(console, "ok", passed.join(", ")));
    await console.write(`${[title, ...lines].join("\n")}\n`);
  }
  await console.writeError(`${fitLines(console, summarize(report))}\n`);
  if (fixCommand !== null && findings.some(({ fixable, fixed }) => fixable && !fixed)) {
    await console.writeError(`Fix what can be fixed with:\n${renderRemedy(fixCommand, console.columns)}\n`);
  }
}

function renderFinding(console: Console, finding: Report["findings"][number], withRemedy: boolean): string[] {
  const { check, severity, message, remedy, fixed } = finding;
  const state = fixed ? "ok" : severity;
  const shown = [renderLine(console, state, `${fixed ? "fixed: " : ""}${check}: ${escapeControls(message)}`)];
  return fixed || remedy === null || !withRemedy ? shown : [...shown, renderRemedy(remedy, console.columns)];
}

function renderLine({ color, columns }: Console, state: keyof typeof marks, text: string): string {
  const mark = color ? `\u001b[${colors[state]}m${marks[state]}\u001b[39m` : marks[state];
  const lines = columns === undefined ? [text] : wrapWords(text, Math.min(columns, maxWidth) - indent.length);
  return `  ${mark} ${lines.join(`\n${indent}`)}`;
}

function renderRemedy(remedy: string, columns: number | undefined): string {
  const text = escapeControls(remedy);
  const begin = `${indent}> `;
  if (columns === undefined || commands.test(text)) return `${begin}${text}`;
  const further = " ".repeat(begin.length);
  return `${begin}${wrapWords(text, Math.min(columns, maxWidth) - begin.length).join(`\n${further}`)}`;
}

function summarize({ findings, checked }: Report): string {
  const left = findings.filter(({ fixed }) => !fixed);
  const count = (severity: string) => {
    const number = left.filter((one) => one.severity === severity).length;
    return number === 0 ? [] : [`${number} ${severity}${number === 1 ? "" : "s"}`];
  };
  const fixed = findings.length - left.length;
  const parts = [...["error", "warning", "note"].flatMap(count), ...(fixed === 0 ? [] : [`${fixed} fixed`])];
  return `${checked.length} checks: ${parts.length === 0 ? "no problems found" : parts.join(", ")}.`;
}
