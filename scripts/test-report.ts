/** What one step of the whole check found. */
export interface StepResult {
  title: string;
  passed: number;
  failed: number;
  skipped: number;
  /** Wall time. */
  ms: number;
  /** What failed, a line each. */
  failures?: string[];
  /** What failed first and passed when it was run again, a line each. */
  unsteady?: string[];
}

type Counts = Pick<StepResult, "passed" | "failed" | "skipped">;

/**
 * Counts the tests of a `bun test` run from its JUnit report. A run that left no report, or ended badly without a
 * failed test (a file that does not load, a crash), counts as one failure.
 */
export function countTests(report: string | null, exitCode: number | null): Counts {
  const root = report?.match(/<testsuites [^>]*>/)?.[0];
  if (!root) return { passed: 0, failed: 1, skipped: 0 };
  const read = (name: string) => Number(root.match(new RegExp(` ${name}="(\\d+)"`))?.[1] ?? 0);
  const [tests, failures, skipped] = [read("tests"), read("failures"), read("skipped")];
  const passed = tests - failures - skipped;
  return { passed, skipped, failed: failures === 0 && exitCode !== 0 ? 1 : failures };
}

/** The failed tests of a `bun test` run's JUnit report: where each stands, its name, and the first line of why. */
export function listFailures(report: string | null): string[] {
  const failed = /<testcase ([^>]*)>\s*<(?:failure|error) ([^>]*)>/g;
  return [...(report?.matchAll(failed) ?? [])].map(([, test = "", failure = ""]) => {
    const why = readAttribute(failure, "message").split("\n", 1)[0];
    return `${readAttribute(test, "file")}:${readAttribute(test, "line")} ${readAttribute(test, "name")}: ${why}`;
  });
}

/** The files of such lines, each once. */
export function filesOf(failures: readonly string[]): string[] {
  return [...new Set(failures.map((line) => line.slice(0, line.indexOf(":"))))];
}

function readAttribute(tag: string, name: string): string {
  const value = tag.match(new RegExp(`(?:^| )${name}="([^"]*)"`))?.[1] ?? "";
  return value.replace(/&(#10|lt|gt|quot|apos|amp);/g, (_, code: string) => characters[code] ?? "");
}

const characters: Record<string, string> = { "#10": "\n", lt: "<", gt: ">", quot: '"', apos: "'", amp: "&" };

/** The closing lines of a run: a table of the steps and, as the last line, `N passed, N failed[, N skipped]`. */
export function renderReport(results: StepResult[]): string {
  const sum = (key: keyof Counts) => results.reduce((total, result) => total + result[key], 0);
  const width = Math.max(...results.map(({ title }) => title.length));
  const rows = results.map(({ title, passed, failed, skipped, ms }) => {
    const cells = [passed, failed, skipped].map((count) => String(count).padStart(8));
    const seconds = `${(ms / 1000).toFixed(1)} s`.padStart(9);
    return `${failed > 0 ? "FAIL" : "ok  "}  ${title.padEnd(width)}${cells.join("")}${seconds}`;
  });
  const head = `${"".padEnd(width + 6)}  passed  failed skipped     time`;
  const failures = [
    ...results.flatMap(({ unsteady }) => unsteady ?? []).map((line) => `(passed at the second try only) ${line}`),
    ...results.flatMap(({ failures }) => failures ?? []).map((line) => `(failed) ${line}`),
  ];
  const total = `${sum("passed")} passed, ${sum("failed")} failed`;
  const named = failures.length > 0 ? ["", ...failures] : [];
  return [head, ...rows, ...named, "", sum("skipped") > 0 ? `${total}, ${sum("skipped")} skipped` : total].join("\n");
}
