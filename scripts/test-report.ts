/** The result of a step of `npm test`. */
export interface StepResult {
  title: string;
  passed: number;
  failed: number;
  skipped: number;
  /** Wall time in milliseconds. */
  ms: number;
  /** The failed tests, a line each. */
  failures?: string[];
}

type Counts = Pick<StepResult, "passed" | "failed" | "skipped">;

/**
 * Counts the tests in the JUnit report of `bun test`. A run without a report counts as a failure. So does a run that
 * failed without a failed test, for example because a file did not load.
 */
export function countTests(report: string | null, exitCode: number | null): Counts {
  const root = report?.match(/<testsuites [^>]*>/)?.[0];
  if (!root) return { passed: 0, failed: 1, skipped: 0 };
  const read = (name: string) => Number(root.match(new RegExp(` ${name}="(\\d+)"`))?.[1] ?? 0);
  const [tests, failures, skipped] = [read("tests"), read("failures"), read("skipped")];
  const passed = tests - failures - skipped;
  return { passed, skipped, failed: failures === 0 && exitCode !== 0 ? 1 : failures };
}

/** Lists the failed tests in a JUnit report: file and line, name, and the first line of the message. */
export function listFailures(report: string | null): string[] {
  const failed = /<testcase ([^>]*)>\s*<(?:failure|error) ([^>]*)>/g;
  return [...(report?.matchAll(failed) ?? [])].map(([, test = "", failure = ""]) => {
    const why = readAttribute(failure, "message").split("\n", 1)[0];
    return `${readAttribute(test, "file")}:${readAttribute(test, "line")} ${readAttribute(test, "name")}: ${why}`;
  });
}

/** Returns a line for each folder of tests in the report: how many passed and failed, and the sum of their times. */
export function listSuites(report: string | null): string[] {
  const suites = new Map<string, { passed: number; failed: number; seconds: number }>();
  for (const [, test = "", end] of report?.matchAll(/<testcase ([^>]*?)(\/?)>(?=\s*(<failure|<error)?)/g) ?? []) {
    const name = readAttribute(test, "file").split("/").slice(0, -1).join("/");
    const suite = suites.get(name) ?? { passed: 0, failed: 0, seconds: 0 };
    suites.set(name, suite);
    suite.seconds += Number(readAttribute(test, "time"));
    if (end === "/") suite.passed += 1;
    else suite.failed += 1;
  }
  return [...suites]
    .toSorted(([a], [b]) => a.localeCompare(b))
    .map(([name, { passed, failed, seconds }]) => {
      const counts = failed > 0 ? `${passed} passed, ${failed} FAILED` : `${passed} passed`;
      return `${name.padEnd(32)} ${counts.padEnd(24)} ${seconds.toFixed(1).padStart(7)} s`;
    });
}

function readAttribute(tag: string, name: string): string {
  const value = tag.match(new RegExp(`(?:^| )${name}="([^"]*)"`))?.[1] ?? "";
  return value.replace(/&(#10|lt|gt|quot|apos|amp);/g, (_, code: string) => characters[code] ?? "");
}

const characters: Record<string, string> = { "#10": "\n", lt: "<", gt: ">", quot: '"', apos: "'", amp: "&" };

/** Returns a table of the steps, and as the last line `N passed, N failed[, N skipped]`. */
export function renderReport(results: StepResult[]): string {
  const sum = (key: keyof Counts) => results.reduce((total, result) => total + result[key], 0);
  const width = Math.max(...results.map(({ title }) => title.length));
  const rows = results.map(({ title, passed, failed, skipped, ms }) => {
    const cells = [passed, failed, skipped].map((count) => String(count).padStart(8));
    const seconds = `${(ms / 1000).toFixed(1)} s`.padStart(9);
    return `${failed > 0 ? "FAIL" : "ok  "}  ${title.padEnd(width)}${cells.join("")}${seconds}`;
  });
  const head = `${"".padEnd(width + 6)}  passed  failed skipped     time`;
  const failures = results.flatMap(({ failures }) => failures ?? []).map((line) => `(failed) ${line}`);
  const total = `${sum("passed")} passed, ${sum("failed")} failed`;
  const named = failures.length > 0 ? ["", ...failures] : [];
  return [head, ...rows, ...named, "", sum("skipped") > 0 ? `${total}, ${sum("skipped")} skipped` : total].join("\n");
}
