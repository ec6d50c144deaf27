import type { Examination } from "../../../server/health/doctor.ts";
import type { Drift } from "../../../server/health/records/run-checks.ts";
import type { Console } from "../../terminal/console.ts";
import { escapeControls } from "../../terminal/escape.ts";
import { fitLines, formatValue, printList } from "../../terminal/output.ts";
import { wrapCommand, wrapWords } from "../../terminal/wrap.ts";

type ToldFinding = Examination["findings"][number];

const maxShown = 100;
const colors = { error: 31, warning: 33, note: 36 } as const;
const indent = "  ";
/** Longer lines are hard to read. */
const widest = 100;
/** What a remedy begins with that is a command, not a sentence. */
const commands = /^(?:bodega|chmod|chown|sudo|mount|du|fuser|timedatectl|echo|kill) /;

/**
 * Prints what has been found: a paragraph each, worst first, then the records that have drifted, then a summary.
 * @param mending the command that mends what can be; null where that has been tried already.
 */
export async function printExamination(console: Console, report: Examination, mending: string | null): Promise<void> {
  const { findings, drift, notes } = report;
  if (console.quiet) return printSubjects(console, report);
  if (findings.length > 0) await console.write(findings.map((one) => renderFinding(console, one)).join(""));
  if (drift.length > 0) await printDrift(console, drift);
  for (const { check, namespace, text } of notes) {
    await sayLine(console, `${check}${namespace === null ? "" : ` in ${namespace}`}: ${text}`);
  }
  await sayLine(console, summarize(report));
  const isMendable = [...findings, ...drift].some(({ fixable, fixed }) => fixable && !fixed);
  if (mending !== null && isMendable) await console.writeError(renderMending(mending, console.columns));
}

function sayLine(console: Console, text: string): Promise<void> {
  return console.writeError(`${fitLines(console, escapeControls(text))}\n`);
}

/** Of what needs somebody; what is merely good to know is left out. */
async function printSubjects(console: Console, { findings, drift }: Examination): Promise<void> {
  const subjects = [
    ...findings.filter(({ severity }) => severity !== "note").map(({ subject }) => subject),
    ...drift.map(({ record }) => record),
  ];
  await console.write(subjects.map((subject) => `${escapeControls(subject)}\n`).join(""));
}

function renderFinding(console: Console, { check, severity, message, remedy, fixed }: ToldFinding): string {
  const mark = console.color ? `\u001b[${colors[severity]}m${severity}\u001b[39m` : severity;
  const text = wrap(escapeControls(`${severity}: ${check}: ${message}`), "", console.columns);
  const lines = [`${mark}${text.slice(severity.length)}`];
  if (fixed) lines.push(`${indent}mended`);
  else if (remedy !== null) lines.push(renderRemedy(escapeControls(remedy), console.columns));
  return `${lines.join("\n")}\n`;
}

function renderRemedy(remedy: string, width: number | undefined): string {
  const begin = `${indent}> `;
  if (width === undefined || !commands.test(remedy)) return wrap(remedy, begin, width);
  return `${begin}${wrapCommand(remedy, width - begin.length, " ".repeat(begin.length + indent.length))}`;
}

/** In one line where that fits; else the command stands by itself, so that a shell still takes it for one. */
function renderMending(command: string, width: number | undefined): string {
  const sentence = "Mend what can be with:";
  const line = `${sentence} ${escapeControls(command)}`;
  return width === undefined || line.length <= width
    ? `${line}\n`
    : `${wrap(sentence, "", width)}\n${renderRemedy(escapeControls(command), width)}\n`;
}

/** A paragraph whose lines after the first stand further in. */
function wrap(text: string, begin: string, width: number | undefined): string {
  if (width === undefined) return `${begin}${text}`;
  const further = " ".repeat(begin.length) + indent;
  return wrapWords(text, Math.min(width, widest) - further.length)
    .join(`\n${further}`)
    .replace(/^/, begin);
}

async function printDrift(console: Console, drift: readonly Drift[]): Promise<void> {
  const shown = drift.slice(0, maxShown);
  await printList(console, shown, {
    id: (one) => one.record,
    empty: "",
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
  if (drift.length > shown.length)
    await sayLine(console, `and ${drift.length - shown.length} more, which --json lists`);
}

function formatState({ fixed, fixable }: Drift): string {
  if (fixed) return "mended";
  return fixable ? "can be mended" : "cannot be mended";
}

function summarize({ findings, drift, notes }: Examination): string {
  const left = findings.filter(({ fixed }) => !fixed);
  const mended = findings.length - left.length + drift.filter(({ fixed }) => fixed).length;
  const drifted = drift.filter(({ fixed }) => !fixed).length;
  const count = (number: number, noun: string) => (number === 0 ? [] : [`${number} ${noun}${number === 1 ? "" : "s"}`]);
  const of = (severity: string) => left.filter((one) => one.severity === severity).length;
  const parts = [
    ...count(of("error"), "error"),
    ...count(of("warning"), "warning"),
    ...count(of("note") + notes.length, "note"),
    ...(drifted === 0 ? [] : [`${count(drifted, "value")} wrong in the records`]),
    ...(mended === 0 ? [] : [`${mended} mended`]),
  ];
  return parts.length === 0 ? "Nothing is wrong." : `In all: ${parts.join(", ")}.`;
}
